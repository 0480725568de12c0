package operation

import (
	"strings"

	"github.com/slipway-dev/slipway/internal/shellword"
)

// A CommandLine returns the command to run again with the kustomization in a folder, for errors. "" omits the flag -k.
type CommandLine func(folder string) string

// NewCommandLine returns a [CommandLine] of a command with the flags that are set.
func NewCommandLine(command string, flags ...OptionalFlag) CommandLine {
	return func(folder string) string {
		words := []string{command}
		if folder != "" {
			words = append(words, "-k", shellword.Quote(folder))
		}
		for _, flag := range flags {
			if flag.set {
				words = append(words, flag.text)
			}
		}
		return strings.Join(words, " ")
	}
}

// An OptionalFlag is a flag that a [CommandLine] contains if it is set.
type OptionalFlag struct {
	set  bool
	text string
}

// FlagIf returns a flag with its value, both quoted for a shell.
func FlagIf(set bool, text string) OptionalFlag { return OptionalFlag{set, text} }
