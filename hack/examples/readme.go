//go:build unix

package main

import (
	"errors"
	"strings"
)

// A script is what the section "Try it" of a README says.
type script struct {
	first, second []string // the commands of the two terminals
	works         string   // what the first terminal shows when the second may begin
}

// read reads the section "Try it".
func read(readme string) (s script, err error) {
	_, section, found := strings.Cut(readme, "\n## Try it")
	if !found {
		return s, errors.New("there is no section Try it")
	}
	section, _, _ = strings.Cut(section, "\n##")
	s.first, section = block(section)
	between, _, _ := strings.Cut(section, "\n```sh\n")
	s.second, _ = block(section)
	if len(s.first) == 0 || len(s.second) == 0 {
		return s, errors.New("the section Try it has not two blocks of shell commands, one for each terminal")
	}
	_, between, _ = strings.Cut(between, "`")
	s.works, _, found = strings.Cut(between, "`")
	if !found || s.works == "" {
		return s, errors.New("the section Try it does not say in `backticks` what the first terminal shows when the second may begin")
	}
	return s, nil
}

// block takes the next block of shell commands from a section, and returns what follows it.
func block(section string) (commands []string, rest string) {
	_, section, _ = strings.Cut(section, "\n```sh\n")
	text, rest, _ := strings.Cut(section, "\n```")
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			commands = append(commands, line)
		}
	}
	return commands, rest
}

// refused reports whether a command must be refused.
func refused(line string) bool { return strings.HasSuffix(line, "# refused") }

// asItShould reports whether a command did what its line says. A refusal is an answer of the API server, in the words
// that kubectl has for it: a server that is not reached, or a kind that it does not have yet, refuses nothing.
func asItShould(line string, failed bool, out string) bool {
	if !refused(line) {
		return !failed
	}
	return failed && (strings.Contains(out, " is invalid: ") || strings.Contains(out, "Error from server (Forbidden)") ||
		strings.Contains(out, "Error from server (Invalid)") || strings.Contains(out, "Error from server (BadRequest)"))
}
