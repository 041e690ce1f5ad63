// Package agents runs published coding agents beside the built program, against a
// scripted model on this machine. `make agents` installs them in pinned versions.
// Its tests are skipped everywhere else.
package agents
