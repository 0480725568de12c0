package proving

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/slipway-dev/slipway/internal/prove"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/safefs"
)

// acceptedFile holds the findings that a team has decided to live with, in the project's folder.
const acceptedFile = "prove/accepted.yaml"

// accepted reads the accepted findings; none if there is no such file.
func (b *bench) accepted() (all []prove.Acceptance, err error) {
	folder := b.root
	if folder == "" {
		folder = b.Dir
	}
	path := filepath.Join(folder, filepath.FromSlash(acceptedFile))
	text, err := safefs.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	mistake := func(err error) error {
		return &report.Error{Class: report.BadProject, What: "the accepted findings cannot be read", Where: path, Err: err, Hint: "expected a list of entries with id, reason and expires, a day such as 2027-01-31"}
	}
	if err != nil {
		return nil, mistake(err)
	}
	if len(text) > maxScenario {
		return nil, mistake(errors.New("it is larger than 1 MiB"))
	}
	var entries []struct {
		ID      string `yaml:"id"`
		Reason  string `yaml:"reason"`
		Expires string `yaml:"expires"`
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&entries); err != nil && !errors.Is(err, io.EOF) {
		return nil, mistake(err)
	}
	for _, e := range entries {
		expires, err := time.Parse(time.DateOnly, e.Expires)
		if err == nil && (e.ID == "" || e.Reason == "") {
			err = errors.New("an entry has no id or no reason")
		}
		if err != nil {
			return nil, mistake(fmt.Errorf("entry %q: %w", e.ID, err))
		}
		all = append(all, prove.Acceptance{ID: e.ID, Reason: e.Reason, Expires: expires})
	}
	return all, nil
}

// accept sorts out the findings that the team lives with.
func (b *bench) accept(found *prove.Report) {
	expired, unknown := found.Accept(b.acceptances, time.Now())
	for _, id := range expired {
		b.Handler.Handle(report.Warning{Text: "finding " + id + " was accepted until a day that has come: " + acceptedFile})
	}
	if len(unknown) > 0 && found.Plans == found.Of && b.shards == 0 && b.proof.Replay == "" {
		b.Handler.Handle(report.Note{Text: "accepted findings that do not come any more: " + strings.Join(unknown, ", ")})
	}
}
