package config

import (
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/skillrouter/skillrouter/internal/errs"
)

// Setting is one setting as it is named outside of Go: a dotted key in the
// file, a variable in the environment, a flag on the command line. A field of
// Config says all of it by its tags.
type Setting struct {
	Name  string // as in the file, with dots between levels
	Usage string
	// Switch means that the flag alone, without a value, switches the setting on.
	Switch bool
	// Secret means that Show gives a mask, and that there is no flag: the list of processes shows those to everybody.
	Secret bool

	redacted bool   // it is a URL, which is shown without its password
	holds    string // what a text must be: a path, a line, an address or a host
	url      string // what it looks like, if it is one
	one      string // what it may be alone; empty: anything
	bounds   string // between which a number must lie; the greater one may be missing
	most     int    // how many texts a list may hold; 0: any number
	value    string // that holds if nobody says anything
	field    []int  // of Config
}

// Env is the name of the environment variable that speaks for the setting.
func (s Setting) Env() string {
	return "SKILLROUTER_" + strings.ToUpper(strings.ReplaceAll(s.Name, ".", "_"))
}

// Flag is the name of the command line flag that speaks for the setting,
// without its dashes.
func (s Setting) Flag() string {
	return strings.NewReplacer(".", "-", "_", "-").Replace(s.Name)
}

// Settings lists every setting, in the order in which they are documented.
var Settings = sync.OnceValue(func() []Setting { return settingsOf(reflect.TypeFor[Config](), "", nil) })

// settingsOf are the settings of a structure's fields, and of the structures in it.
func settingsOf(t reflect.Type, prefix string, at []int) (list []Setting) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, index := prefix+f.Tag.Get("yaml"), append(slices.Clone(at), i)
		if f.Type.Kind() == reflect.Struct {
			list = append(list, settingsOf(f.Type, name+".", index)...)
			continue
		}
		shown := f.Tag.Get("shown")
		most, _ := strconv.Atoi(f.Tag.Get("most"))
		list = append(list, Setting{
			url: f.Tag.Get("url"), one: f.Tag.Get("one"), bounds: f.Tag.Get("range"), most: most,
			Name: name, Usage: f.Tag.Get("usage"), holds: f.Tag.Get("holds"), value: f.Tag.Get("default"), field: index,
			Switch: f.Type.Kind() == reflect.Bool, Secret: shown == "masked", redacted: shown == "redacted",
		})
	}
	return list
}

// of is a pointer to the setting's value in c.
func (s Setting) of(c *Config) any {
	return reflect.ValueOf(c).Elem().FieldByIndex(s.field).Addr().Interface()
}

// mask stands for what nobody may read.
const mask = "********"

// Show returns the setting's value in c as it would be written in the environment.
// A secret is shown as a mask.
func (s Setting) Show(c Config) string {
	switch value := s.of(&c).(type) {
	case *bool:
		return strconv.FormatBool(*value)
	case *int:
		return strconv.Itoa(*value)
	case *float64:
		return strconv.FormatFloat(*value, 'g', -1, 64)
	case *time.Duration:
		return value.String()
	case *[]string:
		return strings.Join(*value, ",")
	case *string:
		u, err := url.Parse(*value)
		switch {
		case s.Secret && *value != "", s.redacted && err != nil:
			return mask
		case s.redacted:
			return u.Redacted()
		}
		return *value
	}
	return ""
}

// set reads the setting's value, as it stands in the environment, into c.
func (s Setting) set(c *Config, text string) (err error) {
	switch value := s.of(c).(type) {
	case *bool:
		*value, err = strconv.ParseBool(text)
	case *int:
		*value, err = strconv.Atoi(text)
	case *float64:
		*value, err = strconv.ParseFloat(text, 64)
	case *time.Duration:
		*value, err = time.ParseDuration(text)
	case *[]string:
		*value = []string{}
		for one := range strings.SplitSeq(text, ",") {
			if one = strings.TrimSpace(one); one != "" {
				*value = append(*value, one)
			}
		}
	case *string:
		*value = text
	}
	if err != nil {
		kind := reflect.TypeOf(s.of(c)).Elem()
		return errs.InvalidField(s.Name, "must be %s, and is %s", wanted(kind), strconv.Quote(text))
	}
	return nil
}

// check says what is wrong with the setting's value in c by itself, as its tags have it.
func (s Setting) check(c *Config) error {
	switch value := s.of(c).(type) {
	case *string:
		return s.checkText(*value)
	case *[]string:
		if s.most > 0 && len(*value) > s.most {
			return errs.InvalidField(s.Name, "may hold at most %d texts", s.most)
		}
		for _, one := range *value {
			if err := s.checkText(one); err != nil {
				return err
			}
		}
	}
	if s.bounds == "" {
		return nil
	}
	var least, most Config
	low, high, _ := strings.Cut(s.bounds, ",")
	if err := s.set(&least, low); err != nil {
		panic("config: " + err.Error()) // it is ours
	}
	is := s.number(c)
	switch unbounded := s.set(&most, high) != nil; {
	case unbounded && is < s.number(&least):
		return errs.InvalidField(s.Name, "must not be negative")
	case !unbounded && !(is >= s.number(&least) && is <= s.number(&most)): // nor is it no number
		return errs.InvalidField(s.Name, "must lie between %s and %s", low, high)
	}
	return nil
}

// number is the setting's value in c, which is a number or a length of time.
func (s Setting) number(c *Config) float64 {
	value := reflect.ValueOf(s.of(c)).Elem()
	if value.CanInt() {
		return float64(value.Int())
	}
	return value.Float()
}

func (s Setting) checkText(text string) error {
	switch {
	case s.holds == "host" && !hostname(text):
		return errs.InvalidField(s.Name, "must hold bare host names or addresses, without scheme, port, path or wildcard")
	case text == "" && s.value == "":
	case s.holds == "path" && strings.IndexByte(text, 0) >= 0:
		return errs.InvalidField(s.Name, "may not hold the character NUL")
	case s.holds == "line" && strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return errs.InvalidField(s.Name, "may not hold control characters")
	case s.holds == "address":
		return checkAddress(s.Name, text)
	case s.one != "" && !slices.Contains(strings.Split(s.one, ", "), text):
		return errs.InvalidField(s.Name, "must be one of %s", s.one)
	case s.url != "" && !s.isURL(text):
		return errs.InvalidField(s.Name, "must be a URL such as %s", s.url)
	}
	return nil
}

// isURL tells whether a text is an address like the setting's. One that is half right is refused at the start and not with the first call.
func (s Setting) isURL(text string) bool {
	schemes := []string{"http", "https"}
	if strings.HasPrefix(s.url, "nats") {
		schemes = []string{"nats", "nats+tls"}
	}
	u, err := url.Parse(text)
	switch {
	case err != nil, !slices.Contains(schemes, u.Scheme), u.Hostname() == "", u.RawQuery != "", u.ForceQuery, u.Fragment != "":
		return false
	case u.User != nil && !s.redacted:
		return false
	}
	return !strings.HasSuffix(s.url, "without a path") || strings.Trim(u.Path, "/") == ""
}
