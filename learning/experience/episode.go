package experience

import (
	"fmt"
	"strings"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/strictjson"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/episode"
)

// experienceEpisode renders an experience as the episode that it is to the
// sidecar's clients, so that they read and find it: a failure is an error, anything
// else an outcome, and its importance is its utility.
func experienceEpisode(e Experience, problem *Problem, solution *Solution, metadata *Metadata) episode.Episode {
	var content strings.Builder
	line := func(name, value string) {
		if value != "" {
			content.WriteString(name + ": " + value + "\n")
		}
	}
	object := func(name string, members map[string]any) {
		if len(members) > 0 {
			text, _ := strictjson.Plain(members) // it was marshalled before
			line(name, string(text))
		}
	}
	title := e.OperationType + " " + string(e.Outcome)
	if problem != nil {
		if problem.Query != "" {
			title += ": " + problem.Query
		}
		line("Problem", problem.Query)
		object("Constraints", problem.Constraints)
		object("Context", problem.Context)
	}
	if solution != nil {
		if problem == nil || problem.Query == "" {
			title += strings.TrimRight(": "+solution.Approach, ": ")
		}
		line("Solution", solution.Approach)
		line("Tool", solution.Tool)
		object("Parameters", solution.Params)
	}
	outcome := string(e.Outcome)
	if e.QualityScore != nil {
		outcome += fmt.Sprintf(", quality %.3g", *e.QualityScore)
	}
	if e.DurationMS != nil {
		outcome += fmt.Sprintf(", %d ms", *e.DurationMS)
	}
	line("Outcome", outcome)
	line("Server", e.ServerName)
	if metadata != nil {
		line("Environment", metadata.Environment)
		line("Dependencies", strings.Join(metadata.Dependencies, ", "))
		line("Triggers", strings.Join(metadata.Triggers, ", "))
	}
	line("Notes", e.Notes)
	kind := episode.EventOutcome
	if e.Outcome == learning.ResultFailure {
		kind = episode.EventError
	}
	return episode.Episode{
		AgentID: e.AgentID, Persona: learning.DefaultPersona, EventType: kind, Project: e.Project,
		Title: check.Head(check.OneLine(title), learning.MaxTitle), Content: strings.TrimSuffix(content.String(), "\n"),
	}
}
