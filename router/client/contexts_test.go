package client_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/fact"
	"github.com/skillrouter/skillrouter/learning/knowledge"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/client"
	"github.com/skillrouter/skillrouter/router/contexts"
)

// TestContext holds that a context over HTTP, and from the tool, is what the builder makes of the real stores.
func TestContext(t *testing.T) {
	address, _ := serve(t)
	c := dial(t, address, client.Options{})
	request := contexts.Request{Task: "deploy the payment gateway", Budget: 1500, AgentID: "carol"}
	if empty, err := client.Send(t.Context(), c, contexts.Service.Build, request); err != nil || empty.Text != "" || empty.Tokens != 0 || empty.Items == nil || empty.LeftOut == nil {
		t.Fatalf("%+v %v", empty, err)
	}
	stored, err := client.Send(t.Context(), c, knowledge.Service.Store, knowledge.Draft{Category: "gotcha", Title: "Payment gateway deploy", Content: "Deploy the gateway after the ledger.", AgentID: "alice"})
	if err != nil {
		t.Fatal(err)
	}
	other, err := client.Send(t.Context(), c, knowledge.Service.Store, knowledge.Draft{Category: "gotcha", Title: "Gateway of the garden", Content: "Noodles.", AgentID: "alice"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Send(t.Context(), c, fact.Service.Remember, fact.Draft{Key: "payment.gateway.url", Value: json.RawMessage(`"https://pay.example"`)}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Send(t.Context(), c, lesson.Service.Report, lesson.Draft{
		Type: learning.LessonAntiPattern, Domain: "payments", Category: "deploy", Title: "Never deploy the payment gateway by hand", Context: "A deploy.", Action: "Deployed by hand.", Outcome: "Lost payments.",
		RelatedCommands: []string{"scp gateway.jar prod:"}, Severity: learning.SeverityCritical, SourceAgent: "bob",
	}); err != nil {
		t.Fatal(err)
	}
	built, err := client.Send(t.Context(), c, contexts.Service.Build, request)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for _, item := range built.Items {
		kinds[item.Kind]++
	}
	if kinds[router.KindGuard] != 1 || kinds[router.KindKnowledge] != 1 || kinds[router.KindFact] != 1 || built.Items[0].Author != "bob" || built.Tokens != contexts.CountTokens(built.Text) {
		t.Errorf("%+v\n%s", built, built.Text)
	}
	entry, err := client.Send(t.Context(), c, knowledge.Service.Entry, stored.ID)
	if err != nil || entry.UseCount != 1 {
		t.Errorf("used %d times: %v", entry.UseCount, err)
	}
	if entry, err := client.Send(t.Context(), c, knowledge.Service.Entry, other.ID); err != nil || entry.UseCount != 0 {
		t.Errorf("what was left out counts as used %d times: %v", entry.UseCount, err)
	}

	response, err := http.Post(address+"/api/tools/build_context", "application/json", bytes.NewReader([]byte(`{"task":"deploy the payment gateway","budget":1500}`)))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var tool struct {
		Success bool
		Result  contexts.Context
	}
	if err := json.NewDecoder(response.Body).Decode(&tool); err != nil || !tool.Success || !strings.Contains(tool.Result.Text, "Deploy the gateway after the ledger.") {
		t.Errorf("%+v %v", tool, err)
	}
	for field, request := range map[string]contexts.Request{
		"budget": {Task: "x", Budget: 10_000_000}, "task": {Budget: 100}, "persona": {Task: "x", Budget: 100, Persona: "../x"},
	} {
		_, err := client.Send(t.Context(), c, contexts.Service.Build, request)
		if errs.CodeOf(err) != errs.Invalid || errs.FieldOf(err) != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}
