package contexts_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/fact"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/contexts"
	"github.com/skillrouter/skillrouter/tfidf"
)

// dockerNotes are n notes of a team that writes of one topic, and three others.
func dockerNotes(n int) indexed {
	x := indexed{&stock{}, tfidf.New(tfidf.Options{})}
	add := func(title, text string) {
		id := fmt.Sprintf("01a1ff32-3a68-7b24-bb1d-%012x", x.index.Len())
		x.index.Put(tfidf.Document{ID: id, Title: title, Body: text})
		x.knowledge = append(x.knowledge, entry(id, title, text))
	}
	for i := range n {
		add(fmt.Sprintf("Docker socket permissions note %d", i), strings.Repeat(fmt.Sprintf("Note %d. The docker daemon socket belongs to group docker number %d. Use group %d. Then log in again. ", i, i, i), 4))
	}
	noodles := "Noodles for the office lunch"
	if n > 1000 { // a rare word of the task, in a note that has nothing else of it
		noodles = "Fix the noodles for the office lunch"
	}
	add(noodles, "The canteen serves noodles on Thursdays.")
	add("Kafka consumer lag", "Raise max.poll.records.")
	add("Capital expenses", "Ask the controller before you buy a server.")
	return x
}

// TestOfOneTopic holds that the words of a team's topic count although
// nearly every note has them, and that they do not make everything relevant.
func TestOfOneTopic(t *testing.T) {
	for _, n := range []int{3, 100, 3000} {
		x := dockerNotes(n)
		all := x.knowledge
		b := contexts.NewBuilder(contexts.Sources{Knowledge: stockKnowledge{x.stock}, Words: []router.Frequencies{x}}, contexts.Options{Now: func() time.Time { return now }})
		for task, want := range map[string]string{
			"fix docker permission":                         "Docker socket",
			"fix docker socket permission denied":           "Docker socket",
			"docker permissions":                            "Docker socket",
			"solve the trouble with docker permission":      "Docker socket",
			"Kafka consumer lag in docker":                  "Kafka",
			"serve noodles at lunch":                        "oodles",
			"what is the capital of France":                 "",
			"translate the poem about autumn into Japanese": "",
			"paint the garden fence before the wedding":     "",
			"use a telescope to watch the moons of Jupiter": "",
			"teach a group of children to swim":             "",
		} {
			t.Run(fmt.Sprintf("%d/%s", n, task), func(t *testing.T) {
				x.knowledge = nil
				for _, hit := range x.index.Search(tfidf.Query{Text: task, Limit: 24}).Hits {
					for i := range all {
						if all[i].ID == hit.ID {
							x.knowledge = append(x.knowledge, all[i])
						}
					}
				}
				for _, budget := range []int{50, 80, 200, 2000} {
					c, err := b.Build(asReader(t), contexts.Request{Task: task, Budget: budget})
					if err != nil {
						t.Fatal(err)
					}
					check(t, c)
					switch {
					case want == "" && len(c.Items) > 0 && c.Items[0].Title != "Capital expenses":
						t.Errorf("of %d tokens: %+v fits nothing", budget, c.Items[0])
					case want != "" && (budget >= 200 || budget >= 80 && n < 1000) && (len(c.Items) == 0 || !strings.Contains(c.Text, want)):
						t.Errorf("of %d tokens: %q lacks %q; %+v", budget, c.Text, want, c.LeftOut[:min(len(c.LeftOut), 1)])
					case want == "Kafka" && strings.Contains(c.Text, "Docker socket"):
						t.Errorf("the topic alone is no reason: %s", c.Text)
					}
				}
			})
		}
	}
}

// TestSmallBudgets holds that a small budget still has one item of use, cut at the end of a sentence.
func TestSmallBudgets(t *testing.T) {
	const id = "01a1ff32-3a68-7b24-bb1d-fc90984626a8"
	s := &stock{
		lessons: []lesson.Lesson{{
			ID: id, Level: lesson.LevelCase, Title: "Docker socket permission denied", Context: "The agent is not in the group docker. It was started by systemd.",
			Action: strings.Repeat("Ran as root, which hid it for a week. ", 20), SourceAgent: "CLAUDE_CODE", Trust: learning.TrustAgent, Confidence: 0.5, LastOccurred: now,
		}},
	}
	for budget := contexts.MinBudget; budget <= 200; budget++ {
		c := s.build(t, contexts.Request{Task: "docker socket permission", Budget: budget})
		if budget%10 == 0 && budget <= 100 {
			t.Logf("of %d tokens %d are used, by %d items", budget, c.Tokens, len(c.Items))
		}
		if budget >= 58 && len(c.Items) != 1 { // how many tokens a mark has hangs on its digits
			t.Errorf("of %d tokens nothing is there: %+v", budget, c.LeftOut)
		}
		if budget >= 85 && !strings.Contains(c.Text, "\n  The agent is not in the group docker.") {
			t.Errorf("of %d tokens not a sentence is there:\n%s", budget, c.Text)
		}
		if budget == contexts.MinBudget {
			t.Log(c.Text)
		}
		if budget >= 115 && !strings.Contains(c.Text, "- agent 2026-11-20 Docker socket permission denied\n  The agent is not in the group docker.") {
			t.Errorf("of %d tokens:\n%s", budget, c.Text)
		}
	}
	s.lessons = nil
	s.facts = []fact.Fact{{Persona: "default", Key: "docker.socket.group", Value: []byte(`"docker"`), Trust: learning.TrustAgent, Author: "ops", CachedAt: now}}
	c := s.build(t, contexts.Request{Task: "docker socket permission", Budget: contexts.MinBudget})
	if len(c.Items) != 1 || !strings.Contains(c.Text, "- agent 2026-11-20 docker.socket.group = \"docker\"\n") {
		t.Errorf("%+v\n%s", c, c.Text)
	}
}
