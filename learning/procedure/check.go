package procedure

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"skillrouter/internal/check"
	"skillrouter/internal/errs"
	"skillrouter/internal/lazyregexp"
	"skillrouter/internal/redact"
	"skillrouter/learning"
	"skillrouter/learning/condition"
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
}

// Prepare checks a draft as Save does and stores nothing. An error is
// Invalid and names the field, such as steps[2].condition.
func Prepare(draft Draft) error {
	_, err := prepare(draft)
	return err
}

func prepare(draft Draft) (p prepared, err error) {
	p.name = draft.Name
	if p.persona, err = check.Persona(draft.Persona); err != nil {
		return p, err
	}
	if err = checkName("name", draft.Name); err != nil {
		return p, err
	}
	b := &p.body
	if b.Category, err = learning.CheckFactCategory(draft.Category); err != nil {
		return p, err
	}
	if b.Description, err = p.clean("description", draft.Description, MaxText); err != nil {
		return p, err
	}
	if b.LearnedFrom, err = learning.CleanJSON(&p.redaction, "learned_from", draft.LearnedFrom, MaxStepResult); err != nil {
		return p, err
	}
	if b.Params, err = p.params(draft.Params); err != nil {
		return p, err
	}
	if b.Steps, err = p.steps(draft.Steps); err != nil {
		return p, err
	}
	if p.text, err = json.Marshal(b); err != nil {
		return p, err
	}
	if len(p.text) > MaxSize {
		return p, &errs.Error{Code: errs.TooLarge, Field: "steps", Message: fmt.Sprintf("are more than a procedure holds: it has %d bytes of JSON, at most %d", len(p.text), MaxSize)}
	}
	return p, nil
}

func (p *prepared) params(params []Param) ([]Param, error) {
	if len(params) > MaxParams {
		return nil, errs.InvalidField("params", "are more than %d", MaxParams)
	}
	clean := make([]Param, 0, len(params))
	for i, param := range params {
		field := fmt.Sprintf("params[%d]", i)
		if err := checkParamName(field+".name", param.Name); err != nil {
			return nil, err
		}
		if hasParam(clean, param.Name) {
			return nil, errs.InvalidField(field+".name", "is there twice")
		}
		var err error
		if param.Description, err = p.clean(field+".description", param.Description, MaxText); err != nil {
			return nil, err
		}
		if param.Default, err = learning.CleanJSON(&p.redaction, field+".default", param.Default, MaxParamValue); err != nil {
			return nil, err
		}
		clean = append(clean, param)
	}
	return clean, nil
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

func (p *prepared) steps(steps []Step) ([]Step, error) {
	if len(steps) == 0 {
		return nil, errs.InvalidField("steps", "are required: at least one")
	}
	if len(steps) > MaxSteps {
		return nil, errs.InvalidField("steps", "are more than %d", MaxSteps)
	}
	names := map[string]bool{}
	clean := make([]Step, 0, len(steps))
	for i, step := range steps {
		step, err := p.step(fmt.Sprintf("steps[%d]", i), i, step)
		if err != nil {
			return nil, err
		}
		if names[step.Name] {
			return nil, errs.InvalidField(fmt.Sprintf("steps[%d].name", i), "is there twice: conditions and figures know steps by their names")
		}
		names[step.Name] = true
		clean = append(clean, step)
	}
	return clean, nil
}

func (p *prepared) step(field string, index int, step Step) (Step, error) {
	if step.Name = strings.TrimSpace(step.Name); step.Name == "" {
		step.Name = fmt.Sprintf("step-%d", index+1) // the persona's memory has steps without names
	}
	if err := check.Name(field+".name", step.Name); err != nil {
		return step, err
	}
	for _, text := range []struct {
		field string
		text  *string
		most  int
	}{
		{".name", &step.Name, check.MaxName},
		{".description", &step.Description, MaxText},
		{".action", &step.Action, MaxAction},
		{".run", &step.Run, MaxAction},
		{".condition", &step.Condition, condition.MaxLength},
	} {
		clean, err := p.clean(field+text.field, *text.text, text.most)
		if err != nil {
			return step, err
		}
		*text.text = clean
	}
	if step.Action == "" && step.Run == "" && step.Description == "" {
		return step, errs.InvalidField(field, "says nothing to do: it needs an action, a run or a description")
	}
	if step.Condition != "" {
		if _, err := condition.Compile(step.Condition); err != nil {
			return step, errs.InvalidField(field+".condition", "%s", errs.MessageOf(err))
		}
	}
	if err := cmp.Or(checkAction(field+".action", step.Action, p.body.Params), checkRun(field+".run", step.Run, p.body.Params)); err != nil {
		return step, err
	}
	if step.Timeout < 0 || step.Timeout > MaxStepTimeout {
		return step, errs.InvalidField(field+".timeout", "must lie between 0 (the default) and %d seconds", MaxStepTimeout)
	}
	switch step.OnFailure {
	case "", OnFailureContinue:
	case OnFailureStop:
		step.OnFailure = "" // the default, said one way
	default:
		return step, errs.InvalidField(field+".on_failure", "must be %s or %s", OnFailureStop, OnFailureContinue)
	}
	return step, nil
}

// clean checks a text and cuts its secrets out.
func (p *prepared) clean(field, text string, most int) (string, error) {
	if err := check.Text(field, text, most); err != nil {
		return "", err
	}
	return p.redaction.Cut(strings.TrimRight(text, " \t\n")), nil
}
