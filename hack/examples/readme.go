//go:build unix

package main

import (
	"errors"
	"strings"
)

// blocks are the commands of the two terminals in the section "Try it".
func blocks(readme string) (first, second []string, err error) {
	_, section, found := strings.Cut(readme, "\n## Try it")
	if !found {
		return nil, nil, errors.New("there is no section Try it")
	}
	section, _, _ = strings.Cut(section, "\n##")
	for _, terminal := range []*[]string{&first, &second} {
		var block string
		_, section, _ = strings.Cut(section, "\n```sh\n")
		block, section, _ = strings.Cut(section, "\n```")
		for line := range strings.Lines(block) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
				*terminal = append(*terminal, line)
			}
		}
	}
	if len(first) == 0 || len(second) == 0 {
		return nil, nil, errors.New("the section Try it has not two blocks of shell commands, one for each terminal")
	}
	return first, second, nil
}

// refused reports whether a command must be refused.
func refused(line string) bool { return strings.HasSuffix(line, "# refused") }

// asItShould reports whether a command did what its line says. A refusal is an answer of the API server, in the words that kubectl has for
// it: a server that is not reached, or a kind that it does not have yet, refuses nothing.
func asItShould(line string, failed bool, out string) bool {
	if !refused(line) {
		return !failed
	}
	return failed && (strings.Contains(out, " is invalid: ") || strings.Contains(out, "Error from server (Forbidden)") ||
		strings.Contains(out, "Error from server (Invalid)") || strings.Contains(out, "Error from server (BadRequest)"))
}
