package config

import (
	"os"
	"path/filepath"
	"runtime"
)

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
