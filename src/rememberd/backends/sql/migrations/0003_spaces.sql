-- Vectors of several models side by side, and which of them serve. What one model made stays as it is; where the
-- vectors of a lane were a mix, they are made again.

ALTER TABLE vectors RENAME TO vectors_before;
CREATE TABLE vectors (
    tenant {id} NOT NULL,
    id {id} NOT NULL,
    noun {id} NOT NULL,
    lane {id} NOT NULL,
    model {id} NOT NULL,
    data {blob} NOT NULL,
    PRIMARY KEY (tenant, id, noun, lane, model)
);
INSERT INTO vectors (tenant, id, noun, lane, model, data)
    SELECT tenant, id, noun, lane, model, data FROM vectors_before
    WHERE lane IN (SELECT lane FROM vectors_before GROUP BY lane HAVING count(DISTINCT model) = 1);
DROP TABLE vectors_before;
CREATE INDEX vectors_space ON vectors (lane, model);

CREATE TABLE spaces (
    lane {id} NOT NULL,
    model {id} NOT NULL,
    state {id} NOT NULL,
    recipe {text} NOT NULL,
    PRIMARY KEY (lane, model)
);
INSERT INTO spaces (lane, model, state, recipe) SELECT DISTINCT lane, model, 'serving', '{}' FROM vectors;
INSERT INTO followers (follower, position)
    SELECT 'embed/' || spaces.lane || '/' || spaces.model, followers.position FROM spaces, followers
    WHERE followers.follower = 'embed';
DELETE FROM followers WHERE follower = 'embed';
