-- +goose Up
-- A message to a group (a kind of agents, a project, a role) waits under the group's name. A member that
-- comes takes a copy, which is to it alone: the first one, or with for_each every one.
ALTER TABLE messages ADD COLUMN to_group TEXT NOT NULL DEFAULT '';      -- of a copy: the group
ALTER TABLE messages ADD COLUMN copy_of INTEGER;                        -- of a copy: the seq of what it is a copy of
ALTER TABLE messages ADD COLUMN for_each INTEGER NOT NULL DEFAULT 0;
CREATE UNIQUE INDEX messages_copies ON messages(copy_of, to_agent) WHERE copy_of IS NOT NULL;

-- +goose Down
DROP INDEX messages_copies;
ALTER TABLE messages DROP COLUMN for_each;
ALTER TABLE messages DROP COLUMN copy_of;
ALTER TABLE messages DROP COLUMN to_group;
