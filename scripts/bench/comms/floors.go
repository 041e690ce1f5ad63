package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"

	"skillrouter/comms"
	"skillrouter/operational"
)

// binder is a gin handler that only binds the JSON of a heartbeat, and answers
// as many bytes as the router does.
func binder() http.Handler {
	gin.SetMode(gin.ReleaseMode)
	e := gin.New()
	e.POST("/heartbeat", func(c *gin.Context) {
		var beat comms.Heartbeat
		if err := c.ShouldBindJSON(&beat); err != nil {
			c.Status(http.StatusBadRequest)
			return
		}
		c.JSON(http.StatusOK, comms.HeartbeatAnswer{OK: true, Timestamp: time.Now().UTC()})
	})
	return e
}

// hub is signals in memory on net/http alone: nothing is stored, and a slow
// reader loses messages. A stream writes all that waits for it at once.
type hub struct {
	seq atomic.Int64
	mu  sync.RWMutex
	all map[string]chan []byte
}

func (h *hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		h.signal(w, r)
		return
	}
	messages := make(chan []byte, 1024)
	h.mu.Lock()
	h.all[r.URL.Query().Get("agent_id")] = messages
	h.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	flusher := w.(http.Flusher)
	flusher.Flush()
	for {
		select {
		case <-r.Context().Done():
			return
		case m := <-messages:
			for more := true; more; {
				_, _ = w.Write(m)
				select {
				case m = <-messages:
				default:
					more = false
				}
			}
			flusher.Flush()
		}
	}
}

func (h *hub) signal(w http.ResponseWriter, r *http.Request) {
	var d operational.MessageDraft
	if err := json.NewDecoder(r.Body).Decode(&d); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	m := operational.Message{
		Seq: h.seq.Add(1), ID: strconv.FormatInt(h.seq.Load(), 10), From: d.From, To: d.To, Signal: d.Signal,
		Context: d.Context, CreatedAt: time.Now().UTC(),
	}
	body, err := json.Marshal(m)
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	event := fmt.Appendf(nil, "id: %d\nevent: %s\ndata: %s\n\n", m.Seq, m.Signal, body)
	h.mu.RLock()
	if d.To == "" {
		for _, one := range h.all {
			one <- event
		}
	} else if one := h.all[d.To]; one != nil {
		one <- event
	}
	h.mu.RUnlock()
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(comms.Sent{Delivered: true, Target: d.To, Signal: d.Signal, MessageID: m.ID, Seq: m.Seq})
}
