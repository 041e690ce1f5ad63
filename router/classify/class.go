package classify

import "github.com/skillrouter/skillrouter/internal/safetext"

// Class is what a question is about, and so which source can answer it.
type Class string

// The classes.
const (
	// ClassKnowledge asks what is known: how to do it, what an error means, what was learned.
	ClassKnowledge Class = "knowledge"
	// ClassEpisode asks what happened.
	ClassEpisode Class = "episode"
	// ClassOperational asks how things stand now: agents, tasks, queues.
	ClassOperational Class = "operational"
	// ClassRecon asks what reconnaissance found: hosts, vulnerabilities, exposures.
	ClassRecon Class = "recon"
)

// Classes lists the classes.
func Classes() []Class {
	return []Class{ClassKnowledge, ClassEpisode, ClassOperational, ClassRecon}
}

// Choices are the values as texts, for whoever asks for one.
func (Class) Choices() []string { return safetext.Strings(Classes()) }

// The classes' places in the model's rows. They are part of its format.
const (
	classKnowledge = iota
	classEpisode
	classOperational
	classRecon
	numClasses
)

// classAt gives the class at a place of the model's rows.
var classAt = [numClasses]Class{ClassKnowledge, ClassEpisode, ClassOperational, ClassRecon}
