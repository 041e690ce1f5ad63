package main

import (
	"fmt"
	"strings"
)

// table is the figures of one size as Markdown, each with its ratio to the first engine's.
func table(r run) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%d entries of %d words, questions of 3 to 8 words, %d hits, ids only\n\n", r.Size, titleWords+bodyWords, hits)
	b.WriteString("| engine | p50 | × | p99 | × | processor | × | memory | start to first answer | durable ingest | processor an entry | disk | same hits |\n")
	b.WriteString("|---|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	ours := r.Engines[0]
	for _, f := range r.Engines {
		ingest, cpu, disk := "", "", ""
		if f.Write.Rate > 0 {
			ingest, cpu, disk = fmt.Sprintf("%.0f/s", f.Write.Rate), fmt.Sprintf("%.0f µs", f.Write.CPU), fmt.Sprintf("%.0f MB", f.Write.Disk)
		}
		fmt.Fprintf(&b, "| %s | %s ms | %s | %s ms | %s | %s ms | %s | %.0f MB | %s ms | %s | %s | %s | %.2f |\n", f.Says,
			three(f.P50), three(f.P50/ours.P50), three(f.P99), three(f.P99/ours.P99), three(f.CPU), three(f.CPU/ours.CPU),
			f.Resident, three(f.Start), ingest, cpu, disk, f.Agree)
	}
	return b.String()
}

// growth is how the figures grow with the size.
func growth(runs []run) string {
	var b strings.Builder
	b.WriteString("\n| p50 / p99 ms, memory, start |")
	for _, r := range runs {
		fmt.Fprintf(&b, " %d |", r.Size)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(runs)) + "\n")
	for at, f := range runs[0].Engines {
		fmt.Fprintf(&b, "| %s |", f.Says)
		for _, r := range runs {
			f := r.Engines[at]
			fmt.Fprintf(&b, " %s / %s, %.0f MB, %s ms |", three(f.P50), three(f.P99), f.Resident, three(f.Start))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// qualityTable is nDCG@10 and R@10 of each engine on each collection, and their means.
func qualityTable(chosen []kind, all [][]quality) string {
	var b strings.Builder
	b.WriteString("\n| nDCG@10, R@10 |")
	for _, q := range all[0] {
		fmt.Fprintf(&b, " %s |", q.Set)
	}
	b.WriteString(" mean |\n|---|" + strings.Repeat("---|", len(all[0])+1) + "\n")
	for i, k := range chosen {
		fmt.Fprintf(&b, "| %s |", k.says)
		var ndcg, recall float64
		for _, q := range all[i] {
			fmt.Fprintf(&b, " %.4f, %.3f |", q.NDCG, q.Recall)
			ndcg += q.NDCG
			recall += q.Recall
		}
		n := float64(len(all[i]))
		fmt.Fprintf(&b, " %.4f, %.3f |\n", ndcg/n, recall/n)
	}
	return b.String()
}

// three is x to about three figures.
func three(x float64) string {
	switch {
	case x >= 100:
		return fmt.Sprintf("%.0f", x)
	case x >= 10:
		return fmt.Sprintf("%.1f", x)
	default:
		return fmt.Sprintf("%.2f", x)
	}
}
