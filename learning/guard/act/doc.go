// Package act reads what an agent proposes to do and says what would become of it: which programs a
// command runs, with which options, where and as whom, and what they change, whichever way it is written.
//
// A Proposal is one text of an action, taken from a command, a sentence or a tool's arguments (Proposals). A Shell
// follows it (Follow): it expands variables and braces, reads scripts in scripts, unwraps sudo, ssh and sh -c, opens quoted
// code of other languages, and notes an Act for each command that would run. An Act has Effects: what it deletes,
// writes, sends or changes in a database. Nothing is run, no file is read, and all of it is bounded: what cannot be read to its
// end is said to be unread.
//
// It knows programs and languages, and no rule of the guard: package rule compares the acts of rules with those of actions.
package act
