package operation

import (
	"strings"

	"github.com/slipway-dev/slipway/internal/shellword"
)

// A CommandLine is the command that an error advises to run again, with the kustomization of a folder; "" names none.
type CommandLine func(folder string) string

// NewCommandLine returns the command line of a command with those flags that are set.
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

// An OptionalFlag is a flag that a command line has if it is set.
type OptionalFlag struct {
	set  bool
	text string
}

// FlagIf returns a flag with its value, as the shell takes both, that is set or not.
func FlagIf(set bool, text string) OptionalFlag { return OptionalFlag{set, text} }
