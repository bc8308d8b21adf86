-- Record, holdings, feed, jobs, audit and API keys.
-- {id}, {text}, {integer}, {real} and {blob} become the dialect's types; times are microseconds since 1970, UTC.
-- {clustered} keeps the rows in the order of the primary key where that has to be said: one page to write, not two.

CREATE TABLE feed_head (
    id {integer} NOT NULL PRIMARY KEY,
    position {integer} NOT NULL
);
INSERT INTO feed_head (id, position) VALUES (1, 0);

CREATE TABLE feed (
    position {integer} NOT NULL PRIMARY KEY,
    tenant {id} NOT NULL,
    noun {id} NOT NULL,
    id {id} NOT NULL,
    operation {id} NOT NULL
);

CREATE TABLE threads (
    tenant {id} NOT NULL,
    thread {id} NOT NULL,
    user_id {id},
    last_seq {integer} NOT NULL,
    session_from {integer} NOT NULL,
    last_used {integer} NOT NULL,
    PRIMARY KEY (tenant, thread)
) {clustered};

CREATE TABLE messages (
    position {integer} NOT NULL PRIMARY KEY,
    id {id} NOT NULL,
    tenant {id} NOT NULL,
    thread {id} NOT NULL,
    seq {integer} NOT NULL,
    user_id {id},
    agent_id {id},
    role {id} NOT NULL,
    name {id},
    content {text} NOT NULL,
    at {integer} NOT NULL,
    recorded_at {integer} NOT NULL,
    metadata {text} NOT NULL
);
CREATE UNIQUE INDEX messages_id ON messages (id);
CREATE UNIQUE INDEX messages_thread ON messages (tenant, thread, seq);
CREATE INDEX messages_user ON messages (tenant, user_id, position);

CREATE TABLE turns (
    tenant {id} NOT NULL,
    id {id} NOT NULL,
    entry {id} NOT NULL,
    thread {id} NOT NULL,
    user_id {id},
    agent_id {id},
    at {integer} NOT NULL,
    outcome {id},
    detail {text} NOT NULL,
    PRIMARY KEY (tenant, id, entry)
) {clustered};

CREATE TABLE idempotency_keys (
    tenant {id} NOT NULL,
    idempotency_key {id} NOT NULL,
    digest {blob} NOT NULL,
    answer {id} NOT NULL,
    thread {id},
    seq {integer},
    PRIMARY KEY (tenant, idempotency_key)
) {clustered};

CREATE TABLE memories (
    position {integer} NOT NULL PRIMARY KEY,
    tenant {id} NOT NULL,
    id {id} NOT NULL,
    revision {integer} NOT NULL,
    user_id {id},
    agent_id {id},
    thread {id},
    kind {id} NOT NULL,
    text {text} NOT NULL,
    source {text},
    importance {real} NOT NULL,
    topic {text},
    domain {text},
    at {integer} NOT NULL,
    revised_at {integer} NOT NULL,
    superseded_at {integer},
    valid_from {integer},
    valid_until {integer},
    expires_at {integer},
    deleted {integer} NOT NULL,
    metadata {text} NOT NULL
);
CREATE UNIQUE INDEX memories_revision ON memories (tenant, id, revision);
CREATE INDEX memories_user ON memories (tenant, user_id, superseded_at, position);

CREATE TABLE vectors (
    tenant {id} NOT NULL,
    id {id} NOT NULL,
    noun {id} NOT NULL,
    lane {id} NOT NULL,
    model {id} NOT NULL,
    data {blob} NOT NULL,
    PRIMARY KEY (tenant, id, noun, lane)
);

CREATE TABLE jobs (
    id {id} NOT NULL PRIMARY KEY,
    tenant {id} NOT NULL,
    task {id} NOT NULL,
    payload {text} NOT NULL,
    state {id} NOT NULL,
    due_at {integer} NOT NULL,
    created_at {integer} NOT NULL,
    attempts {integer} NOT NULL,
    max_attempts {integer} NOT NULL,
    lease {id},
    leased_until {integer},
    error {text}
);
CREATE INDEX jobs_state ON jobs (state, due_at);

CREATE TABLE audit_logs (
    tenant {id} NOT NULL,
    id {id} NOT NULL,
    at {integer} NOT NULL,
    actor {text} NOT NULL,
    action {id} NOT NULL,
    user_id {id},
    thread {id},
    detail {text} NOT NULL,
    PRIMARY KEY (tenant, id)
) {clustered};

CREATE TABLE api_keys (
    id {id} NOT NULL PRIMARY KEY,
    digest {id} NOT NULL,
    tenant {id},
    operator {integer} NOT NULL,
    created_at {integer} NOT NULL,
    revoked_at {integer}
);

CREATE TABLE followers (
    follower {id} NOT NULL PRIMARY KEY,
    position {integer} NOT NULL
);
