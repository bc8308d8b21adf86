-- That a message was recorded tells its own row: the feed holds only the other changes. Its head is the highest position
-- there is, and writers take turns by a row of its own. Messages are found by their id within a tenant.

DELETE FROM feed WHERE noun = 'message' AND operation = 'put';
CREATE TABLE feed_lock (
    id {integer} NOT NULL PRIMARY KEY
);
INSERT INTO feed_lock (id) VALUES (1);
DROP TABLE feed_head;
DROP INDEX messages_id;
CREATE UNIQUE INDEX messages_id ON messages (tenant, id);
