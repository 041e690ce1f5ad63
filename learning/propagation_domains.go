package learning

// seedDomains is seed 000's domain_map: which domain an agent of that name
// works in, until its own reports say otherwise.
var seedDomains = map[string]string{
	"CHRONOS":     "infrastructure",
	"HADES":       "infrastructure",
	"AEGIS":       "security",
	"HERMES":      "notifications",
	"ARGUS":       "monitoring",
	"PANOPTES":    "security",
	"ASCLEPIUS":   "health",
	"SCHOLAR":     "research",
	"CHIRON":      "business",
	"CONSUL":      "project_management",
	"DAEDALUS":    "infrastructure",
	"MUSE":        "creative",
	"QUILL":       "creative",
	"STAGE":       "creative",
	"REEL":        "creative",
	"CRITIC":      "creative",
	"VARYS":       "oversight",
	"ARIA":        "assistant",
	"CLAUDE_CODE": "development",
}
