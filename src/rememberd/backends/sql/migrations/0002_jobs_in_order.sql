-- Jobs are listed, and forgotten when they have ended long ago, in the order they were owed.

CREATE INDEX jobs_created ON jobs (created_at, id);
