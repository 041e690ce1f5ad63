package store

import (
	"context"
	"encoding/json"
	"fmt"

	"gorm.io/gorm"

	"skillrouter/internal/eventlog"
	"skillrouter/operational"
)

var _ operational.TokenStore = (*Store)(nil)

type tokenRow struct {
	ID        string `gorm:"primaryKey"`
	Digest    []byte
	AgentID   string
	Person    string
	Scopes    string
	Projects  string
	Note      string
	CreatedAt int64 `gorm:"autoCreateTime:false"`
	ExpiresAt *int64
	RevokedAt *int64

	IssuedBelow string
}

func (tokenRow) TableName() string { return "tokens" }

func (r tokenRow) token() (operational.Token, error) {
	token := operational.Token{
		ID: r.ID, AgentID: r.AgentID, Person: r.Person, Note: r.Note, IssuedBelow: r.IssuedBelow,
		CreatedAt: fromMillis(r.CreatedAt), ExpiresAt: fromMillisPtr(r.ExpiresAt), RevokedAt: fromMillisPtr(r.RevokedAt),
	}
	if err := json.Unmarshal([]byte(r.Scopes), &token.Scopes); err != nil {
		return token, fmt.Errorf("scopes of token %s: %w", r.ID, err)
	}
	if err := json.Unmarshal([]byte(r.Projects), &token.Projects); err != nil { // never passed over: the token would see all
		return token, fmt.Errorf("projects of token %s: %w", r.ID, err)
	}
	return token, nil
}

// CreateToken implements operational.TokenStore.
func (s *Store) CreateToken(ctx context.Context, token operational.Token, digest operational.TokenDigest, event eventlog.Event, after func()) error {
	scopes, err := json.Marshal(token.Scopes)
	if err != nil {
		return err
	}
	projects, err := json.Marshal(token.Projects)
	if err != nil {
		return err
	}
	return s.write(ctx, func(tx *gorm.DB) error {
		row := tokenRow{
			ID: token.ID, Digest: digest[:], AgentID: token.AgentID, Person: token.Person, Scopes: string(scopes), Projects: string(projects), Note: token.Note, IssuedBelow: token.IssuedBelow,
			CreatedAt: millis(token.CreatedAt), ExpiresAt: millisPtr(token.ExpiresAt),
		}
		if err := tx.Create(&row).Error; err != nil {
			return err
		}
		return appendEvent(tx, event)
	}, after)
}

// ListTokens implements operational.TokenStore.
func (s *Store) ListTokens(ctx context.Context, limit int) ([]operational.Token, error) {
	var rows []tokenRow
	if err := s.read.WithContext(ctx).Order("created_at DESC, id DESC").Limit(limit).Find(&rows).Error; err != nil {
		return nil, err
	}
	tokens := make([]operational.Token, len(rows))
	for i, r := range rows {
		var err error
		if tokens[i], err = r.token(); err != nil {
			return nil, err
		}
	}
	return tokens, nil
}

// LiveTokens implements operational.TokenStore.
func (s *Store) LiveTokens(ctx context.Context) (map[operational.TokenDigest]operational.Token, error) {
	var rows []tokenRow
	if err := s.read.WithContext(ctx).Where("revoked_at IS NULL").Find(&rows).Error; err != nil {
		return nil, err
	}
	live := make(map[operational.TokenDigest]operational.Token, len(rows))
	for _, r := range rows {
		var digest operational.TokenDigest
		if copy(digest[:], r.Digest) != len(digest) {
			return nil, fmt.Errorf("the digest of token %s is cut short", r.ID)
		}
		token, err := r.token()
		if err != nil {
			return nil, err
		}
		live[digest] = token
	}
	return live, nil
}

// ChangeToken implements operational.TokenStore.
func (s *Store) ChangeToken(ctx context.Context, id string, change func(*operational.Token) *eventlog.Event, after func(operational.Token)) (operational.Token, error) {
	var token operational.Token
	err := s.write(ctx, func(tx *gorm.DB) error {
		var row tokenRow
		err := tx.Where("id = ?", id).Take(&row).Error
		if err != nil {
			return refuse(notFound(err, "there is no such token"))
		}
		if token, err = row.token(); err != nil {
			return err
		}
		event := change(&token)
		if event == nil {
			return nil
		}
		if err := tx.Model(&tokenRow{}).Where("id = ?", id).Update("revoked_at", millisPtr(token.RevokedAt)).Error; err != nil {
			return err
		}
		return appendEvent(tx, *event)
	}, func() { after(token) })
	return token, err
}
