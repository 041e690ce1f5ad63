package cli

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"skillrouter/learning"
)

func (s *shell) embeddingsCommand() *cobra.Command {
	return s.remote(s.command(&cobra.Command{
		Use: "embeddings", Short: "Show how far the vectors are by which search goes by meaning too", Args: cobra.NoArgs,
	}, func(ctx context.Context, _ []string) error {
		c, err := s.client()
		if err != nil {
			return err
		}
		status, err := c.System.Embeddings(ctx)
		if err != nil {
			return err
		}
		return s.print(status, func(w io.Writer) { s.embeddingsText(w, status) })
	}))
}

func (s *shell) embeddingsText(w io.Writer, status learning.EmbeddingStatus) {
	if status.State == learning.EmbeddingsOff {
		fmt.Fprintln(w, "No embedding model is configured (llm.embedding_model): search goes by words.")
		return
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "State\t%s\n", cell(string(status.State)))
	fmt.Fprintf(t, "Model\t%s\n", cell(status.Model))
	if status.Dimension > 0 {
		fmt.Fprintf(t, "Dimensions\t%d\n", status.Dimension)
	}
	fmt.Fprintf(t, "Vectors\t%d of %d\n", status.Done, status.Total)
	for _, kind := range status.Kinds {
		fmt.Fprintf(t, "  %s\t%d of %d\n", cell(string(kind.Kind)), kind.Done, kind.Total)
	}
	if left := status.Total - status.Done - status.Refused - status.LeftOut; status.State == learning.EmbeddingsFilling && left > 0 && status.PerSecond > 0 {
		fmt.Fprintf(t, "Left\t%s, at %.1f a second\n", time.Duration(float64(left)/status.PerSecond*float64(time.Second)).Round(time.Second), status.PerSecond)
	}
	if status.Refused > 0 {
		fmt.Fprintf(t, "Refused\t%d, which the model takes in no length\n", status.Refused)
	}
	if status.LeftOut > 0 {
		fmt.Fprintf(t, "Left out\t%d, beyond what is kept in memory\n", status.LeftOut)
	}
	fmt.Fprintf(t, "Memory\t%.1f MiB\n", float64(status.Bytes)/(1<<20))
	if status.FailingSince != nil {
		fmt.Fprintf(t, "Failing\tfor %s\n", s.now().Sub(*status.FailingSince).Round(time.Second))
	}
	if status.LastError != "" {
		fmt.Fprintf(t, "Last error\t%s\n", cell(status.LastError))
	}
	t.Flush()
}
