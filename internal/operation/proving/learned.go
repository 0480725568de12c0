package proving

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/slipway-dev/slipway/internal/prove"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/safefs"
)

// maxLearned bounds the file of what was learned, in bytes.
const maxLearned = 64 << 20

// learnedFile is what runs without a failure have shown, and of what.
type learnedFile struct {
	Of        string           `json:"of"` // a digest of the operator and the scenario
	Knowledge *prove.Knowledge `json:"knowledge"`
}

// recall reads what an earlier proof has learned; nil if there is nothing, or if it is of another operator or scenario.
func (b *bench) recall() (*prove.Knowledge, error) {
	if b.proof.Learned == "" {
		return nil, nil
	}
	of, err := b.subject()
	if err != nil {
		return nil, err
	}
	text, err := safefs.ReadFile(b.Absolute(b.proof.Learned))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var file learnedFile
	if err == nil && len(text) > maxLearned {
		err = fmt.Errorf("it is larger than %d bytes", maxLearned)
	}
	if err == nil {
		err = json.Unmarshal(text, &file)
	}
	if err != nil {
		return nil, &report.Error{What: "the file of an earlier proof cannot be read", Where: "--learned " + b.proof.Learned, Err: err, Hint: "remove the file, and prove learns anew", Code: report.UsageCode}
	}
	if file.Of != of {
		b.Handler.Handle(report.Note{Text: b.proof.Learned + " is of another operator or scenario: prove learns anew"})
		return nil, nil
	}
	return file.Knowledge, nil
}

// retain writes what was learned, for the proofs of other shards. It has digests of Secrets with their key: only the
// user may read it.
func (b *bench) retain(known prove.Knowledge) error {
	if b.proof.Learned == "" {
		return nil
	}
	of, err := b.subject()
	if err != nil {
		return err
	}
	text, err := json.Marshal(learnedFile{of, &known})
	if err == nil {
		err = safefs.WriteSecret(b.Absolute(b.proof.Learned), text)
	}
	if err != nil {
		return &report.Error{What: "the file for later proofs cannot be written", Where: "--learned " + b.proof.Learned, Err: err}
	}
	return nil
}

// learnedForm is counted up when states, names or points of runs get another form.
const learnedForm = 2

// subject is a digest of what is proved, and of the form of what is learned: the manager, or the commands of operators,
// and the steps.
func (b *bench) subject() (string, error) {
	sum := sha256.New()
	var steps []string
	for _, s := range b.scenario.Steps {
		encoded, err := json.Marshal([]any{s.Name, s.Apply, s.Patch, s.Delete, s.Scale, s.Exec})
		if err != nil {
			return "", err
		}
		steps = append(steps, string(encoded))
	}
	if err := json.NewEncoder(sum).Encode([]any{learnedForm, b.command, b.operators, steps, b.scenario.Ignore, b.identity}); err != nil {
		return "", err
	}
	files := b.command // scripts are the operator's code
	if b.proof.Scenario != "" {
		files = append(slices.Clone(files), b.proof.Scenario)
	}
	for _, name := range files {
		if text, err := safefs.ReadFile(b.Absolute(name)); err == nil {
			sum.Write(text)
		}
	}
	if b.manager != nil {
		program, err := safefs.ReadFile(filepath.Join(b.scratch, managerFile))
		if err != nil {
			return "", err
		}
		sum.Write(program)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
