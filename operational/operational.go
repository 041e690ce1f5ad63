// Package operational is the domain of operational.db: the agents and what
// they are doing, the messages between them, the tasks they share, what
// reconnaissance found, and the tokens that say who is who. It owns the
// states these may be in and who may change them. It must not know SQL, HTTP,
// SSE or anything of learning.
package operational
