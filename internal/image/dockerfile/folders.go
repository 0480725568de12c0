package dockerfile

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/recipe"
)

// Folder is an empty folder that a command of the last stage makes. Its mode is 755.
type Folder struct {
	Path     string
	UID, GID int
}

var (
	// folders are those that every image has, with modes of their own.
	folders = []string{"/", "/tmp", "/etc", "/etc/ssl", "/etc/ssl/certs", "/home", "/usr", "/usr/share", "/usr/share/zoneinfo"}
	// unlike are those that systems have with other modes than mkdir's.
	unlike = []string{"/root", "/var/tmp"}
)

// accounts are the users and groups with the same numbers in all systems.
var accounts = map[string]int{"root": 0, "nobody": 65534, "nogroup": 65534}

// folder takes mkdir and chown of root, as far as all that they name are folders by absolute paths.
func (c *script) folder(name string, words []string) bool {
	flags := 0
	for flags < len(words) && slices.Contains([]string{"-p", "-v", "-R", "-pv", "-vp", "--parents", "--recursive"}, words[flags]) {
		flags++
	}
	flagged, words := words[:flags], words[flags:]
	if !slices.Contains([]string{"", "0", "root"}, c.config.User) || slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, recipe.Unknown) }) {
		return false
	}
	if name == "mkdir" {
		return c.mkdir(words)
	}
	return len(words) > 1 && c.chown(words[0], words[1:], slices.Contains(flagged, "-R") || slices.Contains(flagged, "--recursive"))
}

func (c *script) mkdir(paths []string) bool {
	for _, name := range paths {
		full := path.Clean(name)
		switch {
		case !path.IsAbs(name), slices.Contains(unlike, full), len(c.config.Folders) == maxPlaced:
			return false
		case !c.made(full) && !slices.Contains(folders, full):
			c.config.Folders = append(c.config.Folders, Folder{Path: full})
		}
	}
	return len(paths) > 0
}

func (c *script) chown(owner string, paths []string, recursive bool) bool {
	user, group, grouped := strings.Cut(owner, ":")
	uid, known := account(user)
	gid, knownGroup := account(group)
	if !known || grouped && !knownGroup || slices.ContainsFunc(paths, func(p string) bool { return !path.IsAbs(p) || !c.made(path.Clean(p)) || c.has(p) }) {
		return false
	}
	for i, f := range c.config.Folders {
		if slices.ContainsFunc(paths, func(p string) bool {
			rel, in := below(path.Clean(p), f.Path)
			return in && (rel == "." || recursive)
		}) {
			c.config.Folders[i].UID = uid
			if grouped {
				c.config.Folders[i].GID = gid
			}
		}
	}
	return true
}

// made reports whether a command of the stage made a folder.
func (s *stage) made(full string) bool {
	return slices.ContainsFunc(s.config.Folders, func(f Folder) bool { return f.Path == full })
}

// account is the number of a user or a group, if all systems have the same.
func account(name string) (number int, known bool) {
	if number, known = accounts[name]; known {
		return number, true
	}
	parsed, err := strconv.ParseUint(name, 10, 31)
	return int(parsed), err == nil
}
