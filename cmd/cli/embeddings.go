package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"skillrouter/learning"
	"skillrouter/router/client"
)

func (s *shell) embeddingsCommand() *cobra.Command {
	return asks(s, command{
		use: "embeddings", short: "Show how far the vectors are by which search goes by meaning too",
	}, gets(client.System.Embeddings), s.printEmbeddings)
}

func (s *shell) printEmbeddings(w io.Writer, status learning.EmbeddingStatus) {
	if status.State == learning.EmbeddingsOff {
		fmt.Fprintln(w, "No embedding model is configured (llm.embedding_model): search goes by words.")
		return
	}
	list := []section{{"State", string(status.State)}, {"Model", cell(status.Model)}}
	say := func(name, format string, values ...any) {
		list = append(list, section{name, fmt.Sprintf(format, values...)})
	}
	if status.Dimension > 0 {
		say("Dimensions", "%d", status.Dimension)
	}
	say("Vectors", "%d of %d", status.Done, status.Total)
	for _, kind := range status.Kinds {
		say("  "+cell(string(kind.Kind)), "%d of %d", kind.Done, kind.Total)
	}
	if left := status.Total - status.Done - status.Refused - status.LeftOut; status.State == learning.EmbeddingsFilling && left > 0 && status.PerSecond > 0 {
		say("Left", "%s, at %.1f a second", time.Duration(float64(left)/status.PerSecond*float64(time.Second)).Round(time.Second), status.PerSecond)
	}
	if status.Refused > 0 {
		say("Refused", "%d, which the model takes in no length", status.Refused)
	}
	if status.LeftOut > 0 {
		say("Left out", "%d, beyond what is kept in memory", status.LeftOut)
	}
	say("Memory", "%.1f MiB", float64(status.Bytes)/(1<<20))
	if status.FailingSince != nil {
		say("Failing", "for %s", s.now().Sub(*status.FailingSince).Round(time.Second))
	}
	fields(w, append(list, section{"Last error", status.LastError})...)
}
