// Command facts measures the reading of a fact over HTTP beside a bare gin
// handler that answers as many bytes and does nothing else, each a process of
// its own, in turns, from the same connections.
//
//	go run ./scripts/bench/facts [-rounds 5] [-seconds 1]
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/skillrouter/skillrouter/scripts/bench/sidecar"
)

// connections is how many agents ask at once.
const connections = 32

// answered stands for the fact that both answer.
const answered = `{"columns":["id","customer","total","created_at"],"rows":120000,"engine":"postgres"}`

const path = "/api/facts/default/database.orders.schema"

func main() {
	sidecar.Main(measure, func(ctx context.Context, dir, address string) error {
		if strings.HasSuffix(dir, "-noop") {
			return noop(ctx, address)
		}
		return sidecar.Serve(ctx, dir, address)
	})
}

// noop serves the bare handler.
func noop(ctx context.Context, address string) error {
	gin.SetMode(gin.ReleaseMode)
	e := gin.New()
	body := []byte(answered + strings.Repeat(" ", 300)) // what a fact has besides its value
	e.GET("/api/facts/:persona/:key", func(c *gin.Context) { c.Data(http.StatusOK, "application/json", body) })
	e.GET("/health", func(c *gin.Context) { c.Status(http.StatusOK) })
	server := &http.Server{Addr: address, Handler: e, ReadHeaderTimeout: time.Second}
	go func() {
		<-ctx.Done()
		_ = server.Close()
	}()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func measure(ctx context.Context) error {
	rounds := flag.Int("rounds", 5, "turns of each")
	seconds := flag.Float64("seconds", 1, "length of a turn")
	flag.Parse()
	turn := time.Duration(*seconds * float64(time.Second))
	ours, err := sidecar.Fresh(ctx)
	if err != nil {
		return err
	}
	defer ours.Stop()
	theirs, err := sidecar.Start(ctx, ours.Dir+"-noop")
	if err != nil {
		return err
	}
	defer theirs.Stop()
	if err := ours.Send(ctx, http.MethodPut, path, json.RawMessage(`{"value":`+answered+`,"ttl":0}`), nil); err != nil {
		return err
	}
	var rates, costs []float64
	for range *rounds {
		us, ourCost, err := hammer(ours, turn)
		if err != nil {
			return err
		}
		them, theirCost, err := hammer(theirs, turn)
		if err != nil {
			return err
		}
		rates, costs = append(rates, us/them), append(costs, ourCost/theirCost)
		sidecar.Report("facts get, bare handler", "%.0f/s and %.0f/s, ratio %.2f; processor time a call %.1f µs and %.1f µs", us, them, us/them, ourCost, theirCost)
	}
	sidecar.Report("median", "ratio of the rates %.2f (target ≥ 0.70), of the processor time %.2f", sidecar.Quantile(rates, .5), sidecar.Quantile(costs, .5))
	return nil
}

// hammer asks for the fact from all connections for a while, and returns how
// often a second, and the process's microseconds of processor time a call.
func hammer(s *sidecar.Sidecar, turn time.Duration) (rate, cost float64, err error) {
	address := strings.TrimPrefix(s.Base, "http://")
	var all sync.WaitGroup
	var mu sync.Mutex
	calls, before, begin := 0, s.CPU(), time.Now()
	for range connections {
		all.Go(func() {
			n, fault := ask(address, begin.Add(turn))
			mu.Lock()
			defer mu.Unlock()
			calls += n
			err = errors.Join(err, fault)
		})
	}
	all.Wait()
	took := time.Since(begin)
	return float64(calls) / took.Seconds(), float64((s.CPU() - before).Microseconds()) / float64(calls), err
}

// ask asks over one connection until then.
func ask(address string, until time.Time) (calls int, err error) {
	conn, err := sidecar.Dial(address)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	for time.Now().Before(until) {
		if err := conn.Get(path); err != nil {
			return calls, err
		}
		calls++
	}
	return calls, nil
}
