package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/slipway-dev/slipway/internal/operation/projects"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ui"
	"github.com/slipway-dev/slipway/project"
)

// A question asks for the value of a flag that was not given.
type question struct {
	flag, text string
	answer     *string
	preset     string // what an empty answer means
	optional   bool   // an empty answer is one
	check      func(answer string) error
}

// interactive tells whether somebody is there to be asked: people have a terminal, scripts do not.
func (inv *invocation) interactive() bool {
	stdin, ok := inv.Stdin.(*os.File)
	return ok && term.IsTerminal(int(stdin.Fd())) && inv.output == ui.Text
}

// askMissing asks those questions whose flags were not given, when somebody is there; else it leaves
// their answers as they are.
func (inv *invocation) askMissing(cmd *cobra.Command, questions ...question) error {
	if !inv.interactive() {
		return nil
	}
	for _, q := range questions {
		if cmd.Flags().Changed(q.flag) {
			continue
		}
		if err := inv.askText(cmd.Context(), q); err != nil {
			return err
		}
	}
	return nil
}

// askText asks until there is an answer. When stdin ends without one, the answer stays as it was.
func (inv *invocation) askText(ctx context.Context, q question) error {
	text := q.text
	if q.preset != "" {
		text += " [" + q.preset + "]"
	}
	for {
		inv.prompt(text + ": ")
		line, err := inv.readLine(ctx)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if line = strings.TrimSpace(line); line == "" {
			line = q.preset
		}
		if line != "" || q.optional && err == nil {
			if mistake := q.checked(line); mistake != nil && err == nil {
				inv.handler.Handle(report.Note{Text: mistake.Error()})
				continue
			}
			*q.answer = line
			return nil
		}
		if err != nil {
			fmt.Fprintln(inv.Stderr)
			return nil // what is missing is told as it is to scripts
		}
	}
}

// checked is what is wrong with an answer, if anything.
func (q question) checked(answer string) error {
	if q.check == nil {
		return nil
	}
	return q.check(answer)
}

// askProject asks for what a new project needs.
func (inv *invocation) askProject(cmd *cobra.Command, p *projects.Project) error {
	if exists(filepath.Join(inv.Dir, project.FileName)) {
		return nil
	}
	if err := inv.askMissing(cmd, question{flag: "domain", text: "Domain, the suffix of API groups", answer: &p.Domain, preset: p.Domain, check: project.ValidateDomain}); err != nil {
		return err
	}
	if exists(filepath.Join(inv.Dir, "go.mod")) {
		return nil
	}
	return inv.askMissing(cmd, question{flag: "repo", text: "Path of the Go module, such as github.com/me/" + filepath.Base(inv.Dir), answer: &p.Repo, check: project.ValidateRepo})
}

// exists tells whether something is at path.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// askKind asks which kind is meant, or is to be.
func (inv *invocation) askKind(cmd *cobra.Command, group, version, kind *string, preset project.Resource) error {
	return inv.askMissing(cmd,
		question{flag: "group", text: "Group, without the domain", answer: group, preset: preset.Group, optional: true, check: project.ValidateGroup},
		question{flag: "version", text: "Version, such as v1", answer: version, preset: preset.Version, check: project.ValidateVersion},
		question{flag: "kind", text: "Kind, such as CronJob", answer: kind, preset: preset.Kind, check: project.ValidateKind})
}

// askWebhook asks for a kind, the project's first if it has one, and for its webhooks.
func (inv *invocation) askWebhook(cmd *cobra.Command, kinds []project.Resource, w *projects.Webhook) error {
	var first project.Resource
	if len(kinds) > 0 {
		first = kinds[0]
	}
	if err := inv.askKind(cmd, &w.Group, &w.Version, &w.Kind, first); err != nil {
		return err
	}
	flags := cmd.Flags()
	if !inv.interactive() || flags.Changed("defaulting") || flags.Changed("programmatic-validation") || flags.Changed("conversion") {
		return nil
	}
	for _, q := range []struct {
		flag, text string
		answer     *bool
	}{
		{"defaulting", "Set defaults for missing fields (defaulting) [y/n]", &w.Defaulting},
		{"programmatic-validation", "Refuse invalid objects (validation) [y/n]", &w.Validation},
		{"conversion", "Convert other versions (conversion) [y/n]", &w.Conversion},
	} {
		var err error
		if *q.answer, err = inv.ask(cmd.Context(), q.text, "--"+q.flag); err != nil {
			return err
		}
	}
	return nil
}
