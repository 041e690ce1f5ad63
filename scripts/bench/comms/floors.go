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
	"github.com/glebarez/sqlite"
	"github.com/google/uuid"
	"github.com/r3labs/sse/v2"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/skillrouter/skillrouter/comms"
	"github.com/skillrouter/skillrouter/operational"
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

// letter is a signal as the plain program stores it.
type letter struct {
	Seq                  int64 `gorm:"primaryKey;autoIncrement"`
	ID, From, To, Signal string
	Context              []byte
	CreatedAt            int64
}

// plain is the simplest program that loses no signal: gin, gorm and r3labs/sse as their documentation has them. It stores each signal
// by itself with synchronous=FULL, and then publishes it to the stream of its agent. It resumes nothing, and one slow reader stops it.
func plain(dir string) (http.Handler, error) {
	db, err := gorm.Open(sqlite.Open("file:"+dir+"/plain.db?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)"), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		return nil, err
	}
	pool, err := db.DB()
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(1)
	if err := db.AutoMigrate(&letter{}); err != nil {
		return nil, err
	}
	streams := sse.New()
	streams.AutoReplay = false
	gin.SetMode(gin.ReleaseMode)
	e := gin.New()
	e.GET("/messages", func(c *gin.Context) {
		agent := c.Query("agent_id")
		streams.CreateStream(agent)
		c.Request.URL.RawQuery = "stream=" + agent
		streams.ServeHTTP(c.Writer, c.Request)
	})
	e.POST("/signal", func(c *gin.Context) {
		var d operational.MessageDraft
		if err := c.ShouldBindJSON(&d); err != nil {
			c.Status(http.StatusBadRequest)
			return
		}
		m := operational.Message{ID: uuid.NewString(), From: d.From, To: d.To, Signal: d.Signal, Context: d.Context, CreatedAt: time.Now().UTC()}
		row := letter{ID: m.ID, From: m.From, To: m.To, Signal: m.Signal, Context: m.Context, CreatedAt: m.CreatedAt.UnixMilli()}
		if err := db.Create(&row).Error; err != nil {
			c.Status(http.StatusInternalServerError)
			return
		}
		m.Seq = row.Seq
		body, _ := json.Marshal(m) // plain values
		streams.Publish(d.To, &sse.Event{ID: []byte(strconv.FormatInt(m.Seq, 10)), Event: []byte(m.Signal), Data: body})
		c.JSON(http.StatusOK, comms.Sent{Delivered: true, Target: d.To, Signal: d.Signal, MessageID: m.ID, Seq: m.Seq})
	})
	return e, nil
}
