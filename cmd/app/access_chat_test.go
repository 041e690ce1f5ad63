package app_test

import "net/http"

// chatAccess has the routes of the memory proxy, and of what it may dial. No model is configured here,
// and so who may ask one is told that there is none.
var chatAccess = map[string][]access{
	"POST /v1/chat/completions": {{may: agents, path: "/v1/chat/completions", body: `{"messages":[]}`, answers: http.StatusServiceUnavailable}},
	"POST /v1/completions":      {{may: agents, path: "/v1/completions", body: `{"prompt":"x"}`, answers: http.StatusServiceUnavailable}},
	"POST /v1/embeddings":       {{may: agents, path: "/v1/embeddings", body: `{"input":"x"}`, answers: http.StatusServiceUnavailable}},
	"POST /v1/responses":        {{may: agents, path: "/v1/responses", body: `{"input":"x"}`, answers: http.StatusServiceUnavailable}},
	"POST /v1/responses/*of":    {{may: agents, path: "/v1/responses/r/cancel", body: `{}`, answers: http.StatusServiceUnavailable}},
	"GET /v1/responses/*of":     {{may: agents, path: "/v1/responses/r", answers: http.StatusServiceUnavailable}},
	"DELETE /v1/responses/*of":  {{may: agents, path: "/v1/responses/r", answers: http.StatusServiceUnavailable}},
	"GET /api/doctor/outbound":  {{may: captains, path: "/api/doctor/outbound"}},
	"GET /v1/models":            {{may: anyone, path: "/v1/models", answers: http.StatusServiceUnavailable}},
	"GET /v1/models/*id":        {{may: anyone, path: "/v1/models/qwen3-coder", answers: http.StatusServiceUnavailable}},
}
