package dockerfile

import (
	"errors"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/moby/buildkit/frontend/dockerfile/parser"
	"github.com/moby/buildkit/frontend/dockerfile/shell"

	"github.com/slipway-dev/slipway/internal/lazy"
)

// begin begins a stage with what the one before it has, if it is not an image.
func (s *stage) begin() {
	s.variables = map[string]string{"PATH": searched}
	s.config, s.noted = Recipe{Workdir: "/", Labels: map[string]string{}}, map[Line]bool{}
	if s.base == nil && s.On != nil && s.inImage {
		s.config.Workdir = within("/", s.On.Workdir)
		s.inherit(s.On.Env)
	}
	if s.base == nil {
		return
	}
	s.inherit(s.base.config.Env) // ARG ends with its stage
	s.config, s.root, s.files = s.base.config, s.base.root, slices.Clone(s.base.files)
	s.config.Labels, s.config.Env, s.config.Left = maps.Clone(s.config.Labels), slices.Clone(s.config.Env), nil
	s.config.Folders = slices.Clone(s.config.Folders)
}

// inherit takes the variables of what a stage begins with.
func (s *stage) inherit(env []string) {
	for _, pair := range env {
		name, value, _ := strings.Cut(pair, "=")
		s.variables[name] = value
	}
}

// instruction goes through an instruction.
func (s *stage) instruction(node *parser.Node) {
	switch name := strings.ToUpper(node.Value); name {
	case "ARG":
		s.arg(node)
	case "ENV", "LABEL":
		s.pairs(node, name == "LABEL")
	case "RUN":
		if s.On != nil {
			s.leave(node, NoCommands)
			return
		}
		s.run(node)
	case "COPY", "ADD":
		s.copy(node)
	case "ENTRYPOINT", "CMD":
		s.start(node, name)
	case "SHELL":
		s.foreign = !slices.Contains([]string{"sh", "bash", "ash", "dash"}, path.Base(first(tokens(node))))
	case "WORKDIR", "USER", "STOPSIGNAL":
		s.value(node, name)
	case "VOLUME":
		s.config.Volumes = append(s.config.Volumes, s.words(node)...)
	case "EXPOSE", "MAINTAINER", "ONBUILD", "HEALTHCHECK": // Kubernetes heeds none of them
	default:
		s.leave(node, "slipway does not know it")
	}
}

// value takes an instruction that has one value.
func (s *stage) value(node *parser.Node, name string) {
	value := strings.Join(s.words(node), " ")
	switch name {
	case "WORKDIR":
		dir := within(s.config.Workdir, value)
		if len(dir) > maxPath {
			s.leave(node, longPath)
			return
		}
		s.config.Workdir = dir
	case "USER":
		s.config.User = value
	default:
		s.config.StopSignal = value
	}
}

// start takes what starts the program.
func (s *stage) start(node *parser.Node, name string) {
	words := append([]string{}, tokens(node)...) // none is another thing than no instruction
	if shell := !node.Attributes["json"] && len(words) > 0; shell {
		if s.On == nil || s.foreign {
			if s.inImage {
				s.leave(node, "it needs a shell, which the image does not have")
			}
			return
		}
		words = []string{"/bin/sh", "-c", strings.Join(words, " ")}
	}
	if name == "CMD" {
		s.config.Command = words
		return
	}
	s.config.Entrypoint = words
	if s.base != nil && len(s.base.config.Command) > 0 {
		s.config.Command = nil // as container engines have it
	}
}

// leave notes an instruction of which the image has no part.
func (s *stage) leave(node *parser.Node, why string) {
	s.note(Line{File: s.Name, Number: node.StartLine, Text: shortened(node.Original), Why: why})
}

// note notes a line once: a recipe of make may be run twice.
func (s *stage) note(l Line) {
	if !s.noted[l] {
		s.noted[l] = true
		s.config.Left = append(s.config.Left, l)
	}
}

// tokens are the words of an instruction, as the parser has separated them.
func tokens(node *parser.Node) (all []string) {
	for n := node.Next; n != nil; n = n.Next {
		all = append(all, n.Value)
	}
	return all
}

// words are the words of an instruction with the values of variables.
func (s *stage) words(node *parser.Node) (all []string) {
	for _, word := range tokens(node) {
		full, err := s.expand(word, s.variables)
		if err != nil {
			s.leave(node, err.Error())
		}
		all = append(all, full)
	}
	return all
}

func first(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return words[0]
}

func (s *stage) arg(node *parser.Node) {
	for _, word := range tokens(node) {
		name, value, given := strings.Cut(word, "=")
		value, err := s.expand(value, s.variables)
		if err != nil {
			s.leave(node, err.Error())
		}
		if outer := s.global[name]; outer != "" && !given {
			value, given = outer, true
		}
		if argument, ok := s.Arguments[name]; ok {
			value, given = argument, true
		}
		if _, known := s.variables[name]; given || !known && !slices.Contains(platforms, name) { // without a value it stands for nothing
			s.variables[name] = value
		}
	}
}

// platforms are the arguments to which the builder gives values by itself.
var platforms = []string{"TARGETPLATFORM", "TARGETOS", "TARGETARCH", "TARGETVARIANT", "TARGETSTAGE", "BUILDPLATFORM", "BUILDOS", "BUILDARCH", "BUILDVARIANT"}

// pairs takes the names and values of ENV and LABEL. An instruction does not see what it sets itself.
func (s *stage) pairs(node *parser.Node, label bool) {
	var all [][2]string
	for n := node.Next; n != nil && n.Next != nil && n.Next.Next != nil; n = n.Next.Next.Next {
		name, _ := s.expand(n.Value, s.variables)
		value, err := s.expand(n.Next.Value, s.variables)
		if err != nil {
			s.leave(node, err.Error())
			continue
		}
		all = append(all, [2]string{name, value})
	}
	for _, pair := range all {
		name, value := pair[0], pair[1]
		if label {
			s.config.Labels[name] = value
			continue
		}
		s.variables[name] = value
		s.config.Env = slices.DeleteFunc(s.config.Env, func(e string) bool { return strings.HasPrefix(e, name+"=") })
		s.config.Env = append(s.config.Env, name+"="+value)
	}
}

var (
	errExpanded  = errors.New("the values of the variables are too large")
	errExpansion = errors.New("slipway does not know this expansion")
)

// replaces matches an expansion that puts another text into a value: as often as the value has a place for it.
var replaces = lazy.Regexp(`\$\{[^}:+?%#-]*/`)

// expand replaces variables in an argument, and removes quotes.
func (r *reader) expand(text string, variables map[string]string) (string, error) {
	if replaces().MatchString(text) {
		return "", errExpansion
	}
	full, _, err := shell.NewLex(r.escape).ProcessWord(text, lookup{r, variables})
	switch {
	case r.left == 0:
		return "", errExpanded
	case err != nil:
		return "", errExpansion
	}
	return full, nil
}

// lookup has variables, and stops when they have stood for enough.
type lookup struct {
	r         *reader
	variables map[string]string
}

// Get implements [shell.EnvGetter].
func (l lookup) Get(name string) (string, bool) {
	value, known := l.variables[name]
	if len(value) >= l.r.left {
		l.r.left = 0
		return "", known
	}
	l.r.left -= len(value)
	return value, known
}

// Keys implements [shell.EnvGetter].
func (l lookup) Keys() []string { return nil }

// within is a path seen from a folder.
func within(dir, to string) string {
	if path.IsAbs(to) {
		return path.Clean(to)
	}
	return path.Join("/", dir, to)
}

func withSlash(dir string) string { return strings.TrimSuffix(dir, "/") + "/" }

// below is a path seen from a folder above it, "." for the folder itself.
func below(dir, full string) (rel string, ok bool) {
	rel, ok = strings.CutPrefix(withSlash(full), withSlash(dir))
	return path.Clean(rel), ok
}
