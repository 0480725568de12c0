package bounded

import (
	"bytes"
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
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// Why a kustomization is not read.
var (
	// ErrOption is a version of a base that git would take for one of its options, such as one that names a program.
	ErrOption  = errors.New("it has a version that begins with -, which git takes as an option")
	errLeaves  = errors.New("it is in a fetched repository, and names a folder outside of that")
	errBeyond  = errors.New("bases from a repository may name files of this machine without a load restrictor")
	errEncoded = errors.New("it names an address, and cannot be written anew")
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

// local is a kustomization whose repositories are folders of this machine, by names that only this disk knows.
func (d *Disk) local(path string, text []byte) ([]byte, error) {
	var all [][]byte
	changed := false
	for _, document := range documents(text) {
		entries := entriesOf(&document)
		for _, e := range entries {
			mounted, err := d.place(path, e)
			if err != nil {
				return nil, err
			}
			changed = changed || mounted
		}
		encoded, err := yaml.Marshal(&document)
		if err != nil && changed {
			return nil, &LimitError{path, errEncoded}
		}
		all = append(all, encoded)
	}
	if !changed {
		return text, nil
	}
	return bytes.Join(all, []byte("---\n")), nil
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

// An entry is one of a kustomization's lists.
type entry struct {
	list string
	at   **yaml.Node
}

// entriesOf are the entries of the lists whose entries may be folders.
func entriesOf(document *yaml.Node) (all []entry) {
	if len(document.Content) == 0 {
		return nil
	}
	fields := resolved(document.Content[0])
	for i := 0; fields.Kind == yaml.MappingNode && i+1 < len(fields.Content); i += 2 {
		name, list := resolved(fields.Content[i]).Value, resolved(fields.Content[i+1])
		for at := range list.Content {
			if isList(name) && list.Kind == yaml.SequenceNode {
				all = append(all, entry{strings.ToLower(name), &list.Content[at]})
			}
		}
	}
	return all
}

// resolved is a node, or the one that it is an alias of.
func resolved(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// place has an entry of the kustomization in path be on this machine. It reports whether the entry was replaced.
func (d *Disk) place(path string, e entry) (mounted bool, err error) {
	address := resolved(*e.at).Value
	r, isRepository := parseRepository(address)
	switch {
	case !isRepository && !isPage(address):
		return false, d.within(path, address)
	case d.network == nil:
		return false, &LimitError{path, &RemoteError{redacted(address)}}
	case !isRepository || e.list != "components" && isPage(address) && d.isObjects(address):
		return false, d.exceeded
	}
	dir, err := d.clone(r)
	if err != nil {
		return false, err
	}
	name := "the repository " + address
	if d.mounts == nil {
		d.mounts = map[string]string{}
	}
	d.mounts[filepath.Join(filepath.Dir(path), name)] = dir
	*e.at = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Style: yaml.DoubleQuotedStyle, Value: name}
	return true, nil
}

// clone is the folder that an address means, with a repository's files.
func (d *Disk) clone(r repository) (string, error) {
	if d.exceeded != nil {
		return "", d.exceeded
	}
	if d.Unrestricted {
		return "", &LimitError{redacted(r.url), errBeyond}
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
		return "", &LimitError{redacted(r.url), errLeaves}
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
			return &LimitError{path, errLeaves}
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

// CleanedAbs resolves links, and the names that this disk gave to repositories.
func (d *Disk) CleanedAbs(path string) (filesys.ConfirmedDir, string, error) {
	if dir, ok := d.mounts[path]; ok {
		path = dir
	}
	return d.FileSystem.CleanedAbs(path)
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
	if _, query, ok := strings.Cut(n.Value, "?"); ok && n.Kind == yaml.ScalarNode {
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
