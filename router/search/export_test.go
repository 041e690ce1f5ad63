package search

import "context"

// Fill reads in what has not been read in yet. Run does so by itself.
func (w *Words) Fill(ctx context.Context) error {
	for _, x := range []*wordIndex{w.messages, w.findings, w.tasks} {
		if !x.filled.Load() {
			if err := x.fill(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}
