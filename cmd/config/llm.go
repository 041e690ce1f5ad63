package config

import (
	"net/url"
	"strings"

	"skillrouter/internal/errs"
)

// validate checks the settings of the way out. An address that is half right
// is refused at the start and not with the first question.
func (l LLM) validate() error {
	for _, setting := range [][2]string{{"llm.base_url", l.BaseURL}, {"llm.embedding_base_url", l.EmbeddingBaseURL}} {
		name, address := setting[0], setting[1]
		if address == "" {
			continue
		}
		u, err := url.Parse(address)
		if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" {
			return errs.InvalidField(name, "must be a URL such as http://127.0.0.1:11434/v1")
		}
		if u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
			return errs.InvalidField(name, "may bear no user, query or fragment; the key is llm.api_key")
		}
	}
	for _, setting := range [][2]string{{"llm.model", l.Model}, {"llm.embedding_model", l.EmbeddingModel}, {"llm.embedding_query_prefix", l.QueryPrefix}, {"llm.embedding_item_prefix", l.ItemPrefix}, {"llm.api_key", l.APIKey}} {
		name, text := setting[0], setting[1]
		if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return errs.InvalidField(name, "may not hold control characters")
		}
	}
	if l.Model != "" && l.BaseURL == "" {
		return errs.InvalidField("llm.model", "needs llm.base_url, which says where it is asked")
	}
	if l.EmbeddingModel != "" && l.EmbeddingBase() == "" {
		return errs.InvalidField("llm.embedding_model", "needs llm.embedding_base_url or llm.base_url, which say where it is asked")
	}
	if l.EmbeddingModel == "" && l.EmbeddingBaseURL != "" {
		return errs.InvalidField("llm.embedding_base_url", "needs llm.embedding_model, which says what is asked there")
	}
	if l.ContextWindow < 0 || l.ContextWindow > MaxWindow {
		return errs.InvalidField("llm.context_window", "must lie between 0 and %d tokens; 0 means that it is not known", MaxWindow)
	}
	if l.MemoryBudget != 0 && (l.MemoryBudget < MinMemoryBudget || l.MemoryBudget > MaxMemoryBudget) {
		return errs.InvalidField("llm.memory_budget", "must lie between %d and %d tokens; 0 switches memory off", MinMemoryBudget, MaxMemoryBudget)
	}
	return between("llm.timeout", l.Timeout, MinInterval, MaxLLMTimeout)
}
