package mcpserver

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/operational"
)

// BenchmarkAnswer is what it costs to put thirty things before a model, and to write them for programs.
func BenchmarkAnswer(b *testing.B) {
	tasks, episodes := make([]operational.Task, 30), make([]pastEpisode, 30)
	for i := range tasks {
		tasks[i] = operational.Task{ID: "id", Number: int64(i), Title: "A task", Description: "words words words", Status: "pending", UpdatedAt: time.Now(), CreatedAt: time.Now(), AgentID: "a"}
		episodes[i] = pastEpisode{Episode: episode.Episode{ID: "id", Title: "A title", Content: "words words words", EventType: "action", CreatedAt: time.Now(), AgentID: "a"}}
	}
	for name, found := range map[string]any{"tasks": tasks, "episodes": episodes} {
		b.Run(name, func(b *testing.B) {
			shown := &tool{as: name}
			for b.Loop() {
				fields, _, err := shown.answer(reflect.ValueOf(found))
				if _, again := json.Marshal(fields); err != nil || again != nil {
					b.Fatal(err, again)
				}
			}
		})
	}
}
