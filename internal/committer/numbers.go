package committer

import "context"

// Numbers are the last numbers that the tables of a database gave to their rows, by table. The one writer of the database
// knows them: they are right as long as every transaction that took numbers is committed.
type Numbers map[string]int64

// Next takes the next number of a table.
func (n Numbers) Next(table string) int64 {
	n[table]++
	return n[table]
}

type numbersKey struct{}

// WithNumbers gives the transactions of a context the numbers of their database.
func WithNumbers(ctx context.Context, n Numbers) context.Context {
	return context.WithValue(ctx, numbersKey{}, n)
}

// NumbersOf returns the numbers of a transaction's database.
func NumbersOf(ctx context.Context) Numbers {
	n, _ := ctx.Value(numbersKey{}).(Numbers)
	return n
}
