package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/file"
)

// Origin says where a setting's value is from: "default", a file's path, an
// environment variable's name, or a flag.
type Origin string

// OriginDefault is the origin of a value that nobody set.
const OriginDefault Origin = "default"

// Sources are what speaks about settings. The zero Sources gives the defaults.
type Sources struct {
	// File is a configuration file that must be there; empty: DefaultFile, if it is there.
	File string
	// LookupEnv reads the environment, as os.LookupEnv does; nil: there is none.
	LookupEnv func(name string) (string, bool)
	// Flags holds the values of the flags that were given, by the settings' names.
	Flags map[string]string
}

// Loaded is a configuration and where each of its values is from.
type Loaded struct {
	Config
	File    string // the file that was read; empty if none
	Origins map[string]Origin
}

// Load puts the settings together: the defaults, over them the file, over it
// the environment, over it the flags. It checks each value and the whole; an
// error is Invalid, and its message says what is wrong and where that was set.
func Load(sources Sources) (Loaded, error) {
	l := Loaded{Config: Default(), Origins: map[string]Origin{}}
	for _, s := range Settings() {
		l.Origins[s.Name] = OriginDefault
	}
	if err := l.readFile(sources.File); err != nil {
		return Loaded{}, err
	}
	for _, s := range Settings() {
		value, there := "", false
		if sources.LookupEnv != nil {
			value, there = sources.LookupEnv(s.Env())
		}
		// A variable that is set and empty says nothing: that is how shells unset for one command.
		if there && value != "" {
			l.Origins[s.Name] = Origin(s.Env())
			if err := s.set(&l.Config, value); err != nil {
				return Loaded{}, l.blame(err)
			}
		}
		if value, there := sources.Flags[s.Name]; there {
			l.Origins[s.Name] = Origin("--" + s.Flag())
			if err := s.set(&l.Config, value); err != nil {
				return Loaded{}, l.blame(err)
			}
		}
	}
	if err := l.place(); err != nil {
		return Loaded{}, l.blame(err)
	}
	if err := l.Validate(); err != nil {
		return Loaded{}, l.blame(err)
	}
	return l, nil
}

func (l *Loaded) readFile(name string) error {
	named := name != ""
	if !named {
		if name = DefaultFile(); name == "" {
			return nil
		}
	}
	text, err := file.ReadHead(name, MaxFile+1)
	if errors.Is(err, fs.ErrNotExist) && !named {
		return nil
	}
	if err != nil {
		return errs.Wrap(errs.Invalid, err, "the configuration file %s cannot be read", name)
	}
	if len(text) > MaxFile {
		return errs.Errorf(errs.Invalid, "the configuration file %s is larger than %d bytes", name, MaxFile)
	}
	keys, err := decode(name, text, &l.Config)
	if err != nil {
		return err
	}
	l.File = name
	for _, key := range keys {
		l.Origins[key] = Origin(name)
	}
	return nil
}

// place makes the paths absolute that are used from more than one working folder. "~/" stands for the home folder, an empty Data for the
// platform's, and what the file says of certificates starts from the file's own folder.
func (l *Loaded) place() error {
	if l.Data == "" {
		l.Data = defaultData()
	}
	for _, setting := range []struct {
		name string
		path *string
	}{{"data", &l.Data}, {"tls_cert", &l.TLSCert}, {"tls_key", &l.TLSKey}, {"tls_ca", &l.TLSCA}} {
		from := ""
		if setting.name != "data" && l.Origins[setting.name] == Origin(l.File) {
			from = filepath.Dir(l.File)
		}
		if err := absolute(setting.name, setting.path, from); err != nil {
			return err
		}
	}
	return nil
}

// absolute makes a setting's path absolute, which starts from a folder; empty: the working folder.
func absolute(name string, path *string, from string) error {
	if *path == "" {
		return nil
	}
	if rest, ok := strings.CutPrefix(*path, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return errs.InvalidField(name, "begins with ~, and this user has no home folder")
		}
		*path = filepath.Join(home, rest)
	}
	if !filepath.IsAbs(*path) {
		*path = filepath.Join(from, *path)
	}
	abs, err := filepath.Abs(*path)
	if err != nil {
		return errs.Wrap(errs.Internal, err, "the working folder cannot be told")
	}
	*path = abs
	return nil
}

// blame adds to an error about a setting where its value was set.
func (l *Loaded) blame(err error) error {
	field := errs.FieldOf(err)
	origin := l.Origins[field]
	if field == "" || origin == "" {
		return err
	}
	where := ""
	if origin != OriginDefault {
		where = fmt.Sprintf(" (set by %s)", origin)
	}
	return &errs.Error{
		Code: errs.CodeOf(err), Field: field, Err: errors.Unwrap(err),
		Message: errs.MessageOf(err) + where,
	}
}

// folder is the name of the program's folder wherever a platform keeps such.
const folder = "skillrouter"

// DefaultFile is the configuration file that is read, if it is there, when
// none is named: skillrouter/config.yaml in the user's configuration folder
// ($XDG_CONFIG_HOME or ~/.config, ~/Library/Application Support, %AppData%).
// It is empty if the platform names no such folder.
func DefaultFile() string {
	dir, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, folder, "config.yaml")
}

// defaultData is the data folder of the user on this platform.
func defaultData() string {
	home, err := os.UserHomeDir()
	if err != nil {
		home = ""
	}
	return DataFolder(runtime.GOOS, home, os.Getenv)
}

// DataFolder is where the operating system named goos wants a user's data:
// the XDG base directory specification's folder, on macOS the one for
// application support, on Windows the local (not roaming) one. It is empty if
// neither the environment nor home tells.
func DataFolder(goos, home string, env func(string) string) string {
	var base string
	switch goos {
	case "windows":
		if base = env("LocalAppData"); base == "" && home != "" {
			base = filepath.Join(home, "AppData", "Local")
		}
	case "darwin", "ios":
		if home != "" {
			base = filepath.Join(home, "Library", "Application Support")
		}
	default:
		// The specification has relative paths ignored.
		if base = env("XDG_DATA_HOME"); !filepath.IsAbs(base) {
			base = ""
			if home != "" {
				base = filepath.Join(home, ".local", "share")
			}
		}
	}
	if base == "" {
		return ""
	}
	return filepath.Join(base, folder)
}
