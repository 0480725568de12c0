package kustomizefs

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/provider"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// Why a kustomization is not read.
var (
	// ErrOption is a version of a base that git would take for one of its options, such as one that names a program.
	ErrOption = errors.New("it has a version that begins with -, which git takes as an option")
	// ErrLeaves is a folder of this machine that would become part of what was fetched.
	ErrLeaves = errors.New("it is in a fetched repository, and names a folder outside of that")
	// ErrBeyond is that files of this machine could.
	ErrBeyond = errors.New("bases from a repository may name files of this machine without a load restrictor")
)

// isKustomization reports whether kustomize takes a file for a kustomization.
func isKustomization(path string) bool {
	return slices.Contains(konfig.RecognizedKustomizationFileNames(), filepath.Base(path))
}

// get answers a request of kustomize's.
func (d *Disk) get(by http.RoundTripper, request *http.Request) (*page, error) {
	switch {
	case d.exceeded != nil:
		return nil, d.exceeded
	case d.ctx.Err() != nil:
		return nil, d.ctx.Err()
	case d.network == nil:
		return nil, d.note(&LimitError{"", &RemoteError{request.URL.Redacted()}})
	}
	p, err := d.network.get(d.ctx, by, request)
	return p, d.note(err)
}

// local is a kustomization whose repositories are folders of this machine, by names that only this disk knows. It is
// read as kustomize reads it: a merged mapping or a tag must not hide an address from the disk.
func (d *Disk) local(path string, text []byte) ([]byte, error) {
	var k types.Kustomization
	if k.Unmarshal(text) != nil {
		return text, nil // kustomize reports the mistake
	}
	k.FixKustomization() // as kustomize does: bases are resources
	changed := false
	for _, list := range []struct {
		entries []string
		files   bool // may be in it
	}{{k.Resources, true}, {k.Components, false}, {k.Generators, true}, {k.Transformers, true}, {k.Validators, true}} {
		for i, entry := range list.entries {
			placed, err := d.place(path, entry, list.files)
			if err != nil {
				return nil, err
			}
			list.entries[i], changed = placed, changed || placed != entry
		}
	}
	if !changed {
		return text, nil
	}
	return json.Marshal(k)
}

// documents are those of a text that can be read; kustomize reports a mistake.
func documents(text []byte) (all []yaml.Node) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var document yaml.Node
		if decoder.Decode(&document) != nil {
			return all
		}
		all = append(all, document)
	}
}

// place is an entry of the kustomization in path as it is on this machine.
func (d *Disk) place(path, entry string, files bool) (placed string, err error) {
	r, isRepository := parseRepository(entry)
	switch {
	case !isRepository && !isPage(entry):
		return entry, d.within(path, entry)
	case d.network == nil:
		return "", &LimitError{path, &RemoteError{redacted(entry)}}
	case d.OwnGit && isRepository:
		d.network.announceOnce(redacted(r.url))
		return entry, nil
	case !isRepository || files && isPage(entry) && d.isObjects(entry):
		return entry, d.exceeded
	}
	dir, err := d.clone(r)
	if err != nil {
		return "", err
	}
	name := "the repository " + url.PathEscape(entry) // which is one name, and leads to no other folder
	if d.mounts == nil {
		d.mounts = map[string]string{}
	}
	d.mounts[filepath.Join(filepath.Dir(path), name)] = dir
	return name, nil
}

// clone is the folder that an address means, with a repository's files.
func (d *Disk) clone(r repository) (string, error) {
	if d.exceeded != nil {
		return "", d.exceeded
	}
	if d.Unrestricted {
		return "", &LimitError{redacted(r.url), ErrBeyond}
	}
	dir, err := d.network.clone(d.ctx, r)
	if err != nil {
		return "", err
	}
	if !slices.Contains(d.clones, dir) {
		d.clones = append(d.clones, dir)
	}
	folder, err := filepath.EvalSymlinks(filepath.Join(dir, filepath.FromSlash(r.folder)))
	if err != nil {
		return "", &FetchError{redacted(r.url), err}
	}
	if !below(folder, dir) {
		return "", &LimitError{redacted(r.url), ErrLeaves}
	}
	return folder, nil
}

// within refuses a folder of this machine that a kustomization of a fetched repository names.
func (d *Disk) within(path, named string) error {
	for _, clone := range d.clones {
		if !below(path, clone) {
			continue
		}
		folder, err := filepath.EvalSymlinks(filepath.Join(filepath.Dir(path), named))
		if err == nil && !below(folder, clone) {
			return &LimitError{path, ErrLeaves}
		}
	}
	return nil
}

// below reports whether a path is a folder or in it.
func below(path, folder string) bool {
	relative, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(relative)
}

// isObjects reports whether an address has objects, as kustomize finds out before it asks git.
func (d *Disk) isObjects(address string) bool {
	request, err := http.NewRequestWithContext(d.ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return false
	}
	response, err := (&http.Client{}).Do(request)
	if err != nil {
		return d.exceeded != nil
	}
	defer response.Body.Close()
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return false
	}
	var text bytes.Buffer
	if _, err := text.ReadFrom(response.Body); err != nil {
		return false
	}
	_, err = resmap.NewFactory(provider.NewDefaultDepProvider().GetResourceFactory()).NewResMapFromBytes(text.Bytes())
	return err == nil
}

// Target is the folder to build for an argument, which may be the address of a repository.
func (d *Disk) Target(argument string) (string, error) {
	r, ok := parseRepository(argument)
	if !ok {
		return argument, nil
	}
	if d.network == nil {
		return "", d.note(&LimitError{argument, &RemoteError{redacted(argument)}})
	}
	dir, err := d.clone(r)
	return dir, d.note(err)
}

// CleanedAbs resolves links, and the names that this disk gave to repositories. Kustomize asks here before it reads a
// file, which it does by the name without links: the disk keeps which one is a kustomization, and of which folder.
func (d *Disk) CleanedAbs(path string) (filesys.ConfirmedDir, string, error) {
	if dir, ok := d.mounts[path]; ok {
		path = dir
	}
	dir, name, err := d.FileSystem.CleanedAbs(path)
	if err == nil && isKustomization(path) {
		if d.links == nil {
			d.links = map[string]string{}
		}
		d.links[dir.Join(name)] = path
	}
	return dir, name, err
}

// options refuses a kustomization that names a version that git takes for an option.
func options(path string, text []byte) error {
	if !isKustomization(path) {
		return nil
	}
	for piece := range bytes.SplitSeq(text, []byte("\n---")) {
		for _, document := range documents(piece) {
			if err := optionIn(&document); err != nil {
				return err
			}
		}
	}
	return nil
}

// optionIn looks at every text: which of them kustomize takes for addresses is its affair.
func optionIn(n *yaml.Node) error {
	text := n.Value
	if decoded, err := base64.StdEncoding.DecodeString(text); err == nil && n.ShortTag() == "!!binary" {
		text = string(decoded)
	}
	if _, query, ok := strings.Cut(text, "?"); ok && n.Kind == yaml.ScalarNode {
		values, _ := url.ParseQuery(query) // as much as can be read, as kustomize has it
		for _, version := range slices.Concat(values["ref"], values["version"]) {
			if strings.HasPrefix(version, "-") {
				return ErrOption
			}
		}
	}
	for _, child := range n.Content {
		if err := optionIn(child); err != nil {
			return err
		}
	}
	return nil
}
