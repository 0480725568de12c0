package operation

import (
	"strings"

	"github.com/slipway-dev/slipway/internal/shellword"
)

// An Again is the command line that runs a command again with the kustomization of a folder.
type Again func(folder string) string

// AgainWith is that of a command with the flags that are set.
func AgainWith(command string, flags ...SetFlag) Again {
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

// A SetFlag is a flag of a command line, if it is set.
type SetFlag struct {
	set  bool
	text string
}

// IfSet is a flag with its value, as text, if it is set.
func IfSet(set bool, text string) SetFlag { return SetFlag{set, text} }
