//go:build nocluster

package postgres

import (
	"context"
	"database/sql"
	"log/slog"

	"gorm.io/gorm"

	"skillrouter"
	"skillrouter/migrations"
	"skillrouter/router/cluster"
)

// A program that was built with the tag nocluster knows no server: Parse refuses each, and nothing else is called.

// There tells whether this program knows servers. What asks for it is left out of the program where it is false.
const There = false

// Server is no server.
type Server struct{}

// Parse refuses every address.
func Parse(string) (*Server, error) {
	return nil, skillrouter.InvalidField("database", "names a server, and this program was built without PostgreSQL (the tag nocluster)")
}

func (*Server) String() string                                { return "" }
func (*Server) Hosts() []string                               { return nil }
func (*Server) Schema(string) string                          { return "" }
func (*Server) Writer(string) *sql.DB                         { return nil }
func (*Server) Starter(string) *sql.DB                        { return nil }
func (*Server) Reader(string, int) *sql.DB                    { return nil }
func (*Server) Check(context.Context, *sql.DB, string) error  { return nil }
func (*Server) Durable(context.Context, *sql.DB) error        { return nil }
func (*Server) ID(context.Context) (string, error)            { return "", nil }
func (*Server) Belongs(context.Context, cluster.Secret) error { return nil }
func (*Server) Opening(err error) error                       { return err }
func (*Server) Create(context.Context, *sql.DB, []string, func(string) (string, error)) (bool, error) {
	return false, nil
}
func (*Server) Usable(context.Context, *sql.DB, string, []string) error { return nil }
func (*Server) Knows(string, int64, *slog.Logger)                       {}
func (*Server) Version(context.Context, *sql.DB, string) (int64, int64, error) {
	return 0, 0, nil
}

func (*Server) Upgrade(context.Context, *sql.DB, string, []migrations.Step, int64) (int64, error) {
	return 0, nil
}

// Register is no register.
type Register struct{ cluster.Register }

func (*Server) Register() *Register { return nil }
func (*Register) Close() error      { return nil }

// Gorm is never called, as are those after it.
func Gorm(gorm.ConnPool) gorm.Dialector                                    { return nil }
func Size(context.Context, *gorm.DB) (int64, error)                        { return 0, nil }
func (*Server) Heads(*sql.DB) func(context.Context) (cluster.Heads, error) { return nil }

func Open(*gorm.DB) (int64, error)                                { return 0, nil }
func Seal(*gorm.DB, int64, map[string]skillrouter.ChainEnd) error { return nil }
func Settle(*gorm.DB, int64) (bool, error)                        { return false, nil }
func Translate(err error) error                                   { return err }
func Lost(error) bool                                             { return false }

// Moved is what nothing returns.
type Moved struct {
	Table string `json:"table"`
	Rows  int64  `json:"rows"`
}

func Move(context.Context, *sql.DB, *sql.DB) ([]Moved, error)     { return nil, nil }
func MoveBack(context.Context, *sql.DB, *sql.DB) ([]Moved, error) { return nil, nil }
