package procedure

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/lazyregexp"
	"github.com/skillrouter/skillrouter/internal/redact"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/condition"
)

// Bounds of procedures and runs.
const (
	// MaxName bounds a procedure's name, in bytes: it is a file's name too.
	MaxName = 100
	// MaxSteps bounds the steps of a procedure. A longer one is several.
	MaxSteps = 100
	// MaxParams bounds the parameters of a procedure, and MaxParamValue the JSON of one's value, in bytes.
	MaxParams     = 32
	MaxParamValue = 8 << 10
	// MaxAction bounds an action or a command line, in bytes. A longer one is a script, and has a file.
	MaxAction = 16 << 10
	// MaxText bounds a description, an error and a reason, in bytes.
	MaxText = 4096
	// MaxSize bounds what a procedure says, in bytes of JSON.
	MaxSize = 256 << 10
	// MaxStepResult bounds the result of a step, in bytes of JSON: conditions read it, and every answer on its run holds it.
	MaxStepResult = 64 << 10
	// DefaultStepTimeout and MaxStepTimeout bound a command of a step, in seconds.
	DefaultStepTimeout = 300
	MaxStepTimeout     = 86400
	// MaxStepDuration bounds what a report may say of a step's duration, in seconds: a year.
	MaxStepDuration = 365 * 86400
	// MaxStepAttempts bounds how often a step is handed out.
	MaxStepAttempts = 1000
)

// What follows the failure of a step.
const (
	OnFailureStop     = "stop"
	OnFailureContinue = "continue"
)

var (
	procedureName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)
	paramName     = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)
	// reservedParams mean something else in a condition.
	reservedParams = []string{
		condition.ParamsName, condition.ResultsName, "fact", "recall_fact", "None", "True", "False", "is", "nil", "true", "false", "not", "and", "or", "in",
		"contains", "startsWith", "endsWith", "matches", "let", "if", "else", "len", "lower", "upper", "trim", "abs", "int", "float", "any", "all", "none", "one", "count",
	}
)

func checkName(field, name string) error {
	switch {
	case name == "":
		return errs.InvalidField(field, "is required")
	case len(name) > MaxName:
		return errs.InvalidField(field, "is longer than %d bytes", MaxName)
	case !procedureName.MatchString(name):
		return errs.InvalidField(field, "must be letters A–Z and a–z, digits, and after the first also . _ -, since it names a file")
	}
	return check.NoSecret(field, name)
}

func checkRef(ref *Ref) (err error) {
	if ref.Persona, err = check.Persona(ref.Persona); err != nil {
		return err
	}
	if ref.Version < 0 {
		return errs.InvalidField("version", "may not be negative")
	}
	return checkName("name", ref.Name)
}

// prepared is a draft that was checked and redacted.
type prepared struct {
	persona, name string
	body          Body
	text          []byte // body as JSON: two that say the same have the same
	redaction     redact.Redaction
	err           error // the first thing that is wrong
}

// must notes what is wrong, if nothing was before.
func (p *prepared) must(err error) { p.err = cmp.Or(p.err, err) }

// Prepare checks a draft as Save does and stores nothing. An error is
// Invalid and names the field, such as steps[2].condition.
func Prepare(draft Draft) error { return prepare(draft).err }

func prepare(draft Draft) *prepared {
	var err error
	p := &prepared{name: draft.Name, body: Body{Description: draft.Description, LearnedFrom: draft.LearnedFrom}}
	p.persona, err = check.Persona(draft.Persona)
	p.must(cmp.Or(err, checkName("name", draft.Name)))
	p.body.Category, err = learning.CheckFactCategory(draft.Category)
	p.must(err)
	p.clean("description", &p.body.Description, MaxText)
	p.json("learned_from", &p.body.LearnedFrom, MaxStepResult)
	p.params(draft.Params)
	p.steps(draft.Steps)
	if p.err != nil {
		return p
	}
	if p.text, p.err = json.Marshal(p.body); len(p.text) > MaxSize {
		p.must(&errs.Error{Code: errs.TooLarge, Field: "steps", Message: fmt.Sprintf("are more than a procedure holds: it has %d bytes of JSON, at most %d", len(p.text), MaxSize)})
	}
	return p
}

func (p *prepared) params(params []Param) {
	if len(params) > MaxParams {
		p.must(errs.InvalidField("params", "are more than %d", MaxParams))
		return
	}
	p.body.Params = make([]Param, 0, len(params))
	for i, param := range params {
		field := fmt.Sprintf("params[%d]", i)
		p.must(checkParamName(field+".name", param.Name))
		if hasParam(p.body.Params, param.Name) {
			p.must(errs.InvalidField(field+".name", "is there twice"))
		}
		p.clean(field+".description", &param.Description, MaxText)
		p.json(field+".default", &param.Default, MaxParamValue)
		p.body.Params = append(p.body.Params, param)
	}
}

func checkParamName(field, name string) error {
	if len(name) > check.MaxName || !paramName.MatchString(name) {
		return errs.InvalidField(field, "must be a name of at most %d letters A–Z and a–z, digits and _, and may not begin with a digit", check.MaxName)
	}
	if slices.Contains(reservedParams, name) {
		return errs.InvalidField(field, "may not be %s, which means something else in a condition", name)
	}
	return nil
}

func (p *prepared) steps(steps []Step) {
	switch {
	case len(steps) == 0:
		p.must(errs.InvalidField("steps", "are required: at least one"))
	case len(steps) > MaxSteps:
		p.must(errs.InvalidField("steps", "are more than %d", MaxSteps))
	}
	names := map[string]bool{}
	for i := 0; i < len(steps) && p.err == nil; i++ {
		field := fmt.Sprintf("steps[%d]", i)
		step := p.step(field, i, steps[i])
		if names[step.Name] {
			p.must(errs.InvalidField(field+".name", "is there twice: conditions and figures know steps by their names"))
		}
		names[step.Name] = true
		p.body.Steps = append(p.body.Steps, step)
	}
}

func (p *prepared) step(field string, index int, step Step) Step {
	if step.Name = strings.TrimSpace(step.Name); step.Name == "" {
		step.Name = fmt.Sprintf("step-%d", index+1) // the persona's memory has steps without names
	}
	p.must(check.Name(field+".name", step.Name))
	p.clean(field+".name", &step.Name, check.MaxName)
	p.clean(field+".description", &step.Description, MaxText)
	p.clean(field+".action", &step.Action, MaxAction)
	p.clean(field+".run", &step.Run, MaxAction)
	p.clean(field+".condition", &step.Condition, condition.MaxLength)
	if p.err != nil {
		return step
	}
	if step.Action == "" && step.Run == "" && step.Description == "" {
		p.must(errs.InvalidField(field, "says nothing to do: it needs an action, a run or a description"))
	}
	if step.Condition != "" {
		if _, err := condition.Compile(step.Condition); err != nil {
			p.must(errs.InvalidField(field+".condition", "%s", errs.MessageOf(err)))
		}
	}
	p.must(cmp.Or(checkAction(field+".action", step.Action, p.body.Params), checkRun(field+".run", step.Run, p.body.Params)))
	if step.Timeout < 0 || step.Timeout > MaxStepTimeout {
		p.must(errs.InvalidField(field+".timeout", "must lie between 0 (the default) and %d seconds", MaxStepTimeout))
	}
	switch step.OnFailure {
	case "", OnFailureContinue:
	case OnFailureStop:
		step.OnFailure = "" // the default, said one way
	default:
		p.must(errs.InvalidField(field+".on_failure", "must be %s or %s", OnFailureStop, OnFailureContinue))
	}
	return step
}

// clean checks a text and cuts its secrets out.
func (p *prepared) clean(field string, text *string, most int) {
	p.must(check.Text(field, *text, most))
	*text = p.redaction.Cut(strings.TrimRight(*text, " \t\n"))
}

// json checks a value, and cuts its secrets out.
func (p *prepared) json(field string, raw *json.RawMessage, most int) {
	clean, err := learning.CleanJSON(&p.redaction, field, *raw, most)
	p.must(err)
	*raw = clean
}
