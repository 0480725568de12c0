package dockerfile

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/moby/buildkit/frontend/dockerfile/parser"

	"github.com/slipway-dev/slipway/internal/lazy"
)

// Copy is a file or a folder of the project that a stage has.
type Copy struct {
	From  string // relative to the project's folder, with slashes
	To    string // in the stage, absolute
	Mode  string // of --chmod
	Owner string // of --chown
	// Follow reports whether it is what From leads to if that is a link: the Dockerfile names it, and not its folder.
	Follow bool
	dir    bool
}

// placed is what a stage has at a path: what go build made, or else something of the project.
type placed struct {
	Copy
	build *Build
}

// maxPlaced is how much is copied at most, and maxPath how long the paths are at most, as Linux has it.
const (
	maxPlaced = 4096
	maxPath   = 4096
)

const longPath = "a path of it is too long"

// put puts something into a stage, in place of what was there.
func (s *stage) put(node *parser.Node, p placed) {
	if len(p.To) > maxPath {
		s.leave(node, longPath)
		return
	}
	s.files = slices.DeleteFunc(s.files, func(o placed) bool { return o.To == p.To && (!(o.dir && p.dir) || o == p) })
	if len(s.files) == maxPlaced {
		s.leave(node, "slipway copies no more files")
		return
	}
	s.files = append(s.files, p)
}

// copy goes through COPY and ADD.
func (s *stage) copy(node *parser.Node) {
	words := s.words(node)
	var from string
	var how Copy
	for _, flag := range node.Flags {
		name, value, _ := strings.Cut(flag, "=")
		value, err := s.expand(value, s.variables)
		switch {
		case err != nil:
			s.leave(node, err.Error())
			return
		case name == "--from":
			from = value
		case name == "--chmod":
			how.Mode = value
		case name == "--chown":
			how.Owner = value
		case name != "--link":
			s.leave(node, "slipway does not know "+name)
			return
		}
	}
	if how.Mode != "" && !mode().MatchString(how.Mode) || how.Owner != "" && !owner().MatchString(how.Owner) {
		s.leave(node, "slipway knows modes by numbers, and of owners also root and nonroot")
		return
	}
	if len(words) < 2 || len(node.Heredocs) > 0 {
		s.leave(node, "slipway copies only files of the project and what go build makes")
		return
	}
	sources, to := words[:len(words)-1], words[len(words)-1]
	for _, source := range sources {
		var found []placed
		var why string
		if from != "" {
			found, why = s.copied(from, source)
		} else {
			found, why = s.ofProject(source, strings.EqualFold(node.Value, "ADD"))
		}
		if why != "" {
			s.leave(node, why)
			continue
		}
		s.place(node, found, to, len(sources) > 1, how)
	}
}

// What files may have.
var (
	mode  = lazy.Regexp(`^[0-7]{3,4}$`)
	owner = lazy.Regexp(`^(\d{1,9}|root|nonroot)(:(\d{1,9}|root|nonroot))?$`)
)

// place puts what a source of COPY stands for to where it is copied to. The paths of what is found are relative to the
// source; "." is that itself, whose name in a folder is that of From.
func (s *stage) place(node *parser.Node, found []placed, to string, several bool, how Copy) {
	full := within(s.config.Workdir, to)
	if len(full) > maxPath {
		s.leave(node, longPath)
		return
	}
	folder := strings.HasSuffix(to, "/") || full == s.config.Workdir || several || s.made(full) || slices.ContainsFunc(s.files, func(p placed) bool { return p.dir && p.To == full })
	for _, p := range found {
		switch {
		case p.To == "." && (p.dir || !folder):
			p.To = full
		case p.To == ".":
			p.To = path.Join(full, path.Base(p.From))
		default:
			p.To = path.Join(full, p.To)
		}
		p.Mode, p.Owner = how.Mode, how.Owner
		switch {
		case p.build != nil || len(p.To) > maxPath || s.root != "":
		case p.dir && p.From == ".":
			s.root = p.To
		case path.Base(p.To) == "go.mod":
			s.root = path.Dir(p.To)
		}
		s.put(node, p)
	}
}

// provided is what every image has: the authorities and time zones that slipway brings, and users, of whom Kubernetes
// heeds the numbers.
var provided = []string{"/etc/ssl/certs", "/usr/share/zoneinfo", "/etc/passwd", "/etc/group"}

// copied is what another stage has at a path. Nothing and no reason is what every image has.
func (s *stage) copied(from, source string) (found []placed, why string) {
	full := within("/", source)
	if s.On == nil && slices.ContainsFunc(provided, func(dir string) bool { _, in := below(dir, full); return in }) {
		return nil, ""
	}
	other := s.stage(from)
	if other == nil || other == s || other.variables == nil {
		return nil, "slipway takes no files from another image"
	}
	s.needs = append(s.needs, other)
	if found = other.at(full); len(found) == 0 && !slices.ContainsFunc(other.config.Left, Line.lacks) { // one of these may make it
		return nil, "slipway does not know what makes " + shortened(source)
	}
	return found, ""
}

// at is what a stage has at a path, or below it; or else the program of that name, as sources may be anywhere.
func (s *stage) at(full string) (found []placed) {
	for _, p := range s.files {
		if s.steps--; s.steps < 0 {
			return nil
		}
		rel, in := below(full, p.To)
		if matched, err := path.Match(full, p.To); !in && matched && err == nil {
			rel, in = path.Base(p.To), true
		}
		rest, holds := below(p.To, full)
		switch {
		case in:
		case holds && p.dir && s.exists(path.Join(p.From, rest)):
			p.From, rel = path.Join(p.From, rest), "."
			p.dir = s.isFolder(p.From)
		default:
			continue
		}
		if rel == "." && !p.dir {
			found = nil // which the later one replaces
		}
		if p.build != nil {
			p.From = p.To // for its name
		}
		p.To = rel
		found = append(found, p)
	}
	for _, p := range s.files {
		if len(found) == 0 && p.build != nil && path.Base(p.To) == path.Base(full) {
			p.From, p.To = p.To, "."
			found = append(found, p)
		}
	}
	return found
}

// exists reports whether the project has a file or a folder.
func (s *stage) exists(name string) bool {
	if s.Files == nil {
		return true
	}
	_, err := fs.Stat(s.Files, name)
	return err == nil
}

// isFolder reports whether a name of the project is that of a folder.
func (s *stage) isFolder(name string) bool {
	if s.Files == nil {
		return name == "." || path.Ext(name) == ""
	}
	info, err := fs.Stat(s.Files, name)
	return err == nil && info.IsDir()
}

// archives are the ends of names of files that ADD unpacks.
var archives = []string{".tar", ".gz", ".tgz", ".bz2", ".xz", ".zst"}

// ofProject are the files and folders of the project that a source of COPY names.
func (s *stage) ofProject(source string, add bool) (found []placed, why string) {
	name := strings.TrimPrefix(path.Clean("/"+source), "/")
	if name == "" {
		name = "."
	}
	switch {
	case add && (strings.Contains(source, "://") || strings.HasPrefix(source, "git@") || slices.Contains(archives, path.Ext(name))):
		return nil, "slipway downloads and unpacks nothing"
	case !fs.ValidPath(name) || strings.ContainsAny(path.Dir(name), `*?[\`):
		return nil, "slipway does not know this pattern"
	case s.Files == nil && name == "go.*":
		name = "go.mod"
	}
	names := []string{name}
	if strings.ContainsAny(name, `*?[\`) && s.Files != nil {
		var err error
		if names, err = fs.Glob(s.Files, name); err != nil {
			return nil, err.Error()
		}
	}
	for _, name := range names {
		if s.steps--; s.steps < 0 || !s.exists(name) {
			return nil, "the project has no " + shortened(name)
		}
		found = append(found, placed{Copy: Copy{From: name, To: ".", dir: s.isFolder(name)}})
	}
	if len(found) == 0 {
		return nil, "the project has no " + shortened(name)
	}
	return found, ""
}
