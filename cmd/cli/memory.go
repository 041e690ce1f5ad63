package cli

import (
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/kind"
)

func (s *shell) memoryCommand() *cobra.Command {
	var request router.ClearRequest
	cmd := s.does(command{
		use: "memory AGENT", short: "Show what an agent should know, and what is remembered", do: router.MemoryService.Memory, show: printMemory,
		long: `Shows the lessons that an agent should know: its own, those of its domain, and
those for everybody. They are what other agents wrote, and no instructions. The commands below tell of all that is remembered.`,
	})
	cmd.AddCommand(
		s.does(command{use: "categories", aliases: []string{"list"}, short: "List the categories of what is remembered", do: router.IntrospectionService.Categories, rows: "type=MEMORY category count bytes", none: "Nothing is remembered."}),
		s.does(command{use: "stats", short: "Count what is remembered, and show how large the databases are", do: router.IntrospectionService.Stats, says: statsPage}),
		s.does(command{
			use: "clear", short: "Delete what a persona remembers", do: router.IntrospectionService.Clear, in: &request, says: clearedPage,
			long: `Deletes the facts, episodes, procedures and reminders of a persona, of one type,
one category, or all. Without --confirm nothing is deleted, and what would be
is shown. Knowledge and lessons are the whole team's, and are never cleared.`,
			flags: options{choice("type", &request.Type, kind.Clearable(), "only this type (default all)")},
		}),
	)
	return cmd
}

// printMemory prints each lesson in the first table that has it.
func printMemory(w io.Writer, memory router.Memory) {
	shown := map[string]bool{}
	once := func(list []lesson.Lesson) []lesson.Lesson {
		return slices.DeleteFunc(list, func(l lesson.Lesson) bool {
			was := shown[l.ID]
			shown[l.ID] = true
			return was
		})
	}
	for _, a := range memory.AntiPatterns {
		shown[a.ID] = true
	}
	memory.Critical = once(memory.Critical)
	memory.Recent = once(memory.Recent)
	render(w, memoryPage, memory)
}

const memoryPage = `{{.Agent}} ({{or .Domain "no domain known"}}): {{.LessonsCount}} lessons
{{- $rows := "number=NO title=LESSON domain severity source_agent=FROM solution|alternatives=SOLUTION"}}
{{- with .AntiPatterns}}

Never do
{{table $rows .}}
{{- end}}
{{- with .Critical}}

Critical
{{table $rows .}}
{{- end}}
{{- with .Recent}}

Latest
{{table $rows .}}
{{- end}}`

const statsPage = `
{{- range .Personas}}{{.Persona}}:
{{- range $type, $of := .Types}}{{if $of.Count}} {{$of.Count}} {{$type}},{{end}}
{{- end}} {{size .Bytes}}
{{end}}the whole team:
{{- range $type, $of := .Types}}{{if $of.Count}} {{$of.Count}} {{$type}},{{end}}
{{- end}} {{size .Bytes}}
{{- range .Databases}}
{{.Name}}: {{.Bytes}} bytes on the disk
{{- end}}`

const clearedPage = `
{{- $verb := "would delete"}}{{if .Confirmed}}{{$verb = "deleted"}}{{end}}
{{- if not .Count}}{{$verb}} nothing{{end}}
{{- range .Types}}
{{- if .Count}}
{{$verb}} {{.Count}} {{.Type}}
{{- end}}
{{- end}}
{{- range .NotCleared}}
keeps {{.Count}} {{.Type}}
{{- end}}
{{- with .Notice}}
{{.}}
{{- end}}`
