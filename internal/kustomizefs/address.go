package kustomizefs

import (
	"cmp"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/slipway-dev/slipway/internal/lazy"
)

// isPage reports whether kustomize takes a text for the address of a file.
func isPage(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https")
}

// A repository is where a base is that is an address: of a repository of git, a commit and a folder in it.
type repository struct{ url, ref, folder string }

// parseRepository reads an address as kustomize does. Not every text is one. A difference to kustomize has it run git,
// which then may fetch from nowhere.
//
// Upstream: api/internal/git/repospec.go of kustomize.
func parseRepository(address string) (repository, bool) {
	if filepath.IsAbs(address) {
		return repository{}, false
	}
	var r repository
	path, query, _ := strings.Cut(address, "?")
	if values, err := url.ParseQuery(query); err == nil {
		r.ref = cmp.Or(values.Get("ref"), values.Get("version"))
	}
	host, path, ok := splitHost(path)
	if !ok {
		return repository{}, false
	}
	path, r.folder, ok = splitFolder(path, host == fileScheme)
	r.url = host + path
	return r, ok && filepath.IsLocal(cmp.Or(filepath.FromSlash(r.folder), "."))
}

const fileScheme = "file://"

var user = lazy.Regexp(`^[a-zA-Z][a-zA-Z0-9-]*@`)

// splitHost divides an address behind its host, which GitHub has in one form only.
func splitHost(address string) (host, path string, ok bool) {
	address = trimPrefixFold(address, "git::")
	scheme := ""
	for _, known := range []string{"ssh://", "https://", "http://", fileScheme} {
		if rest := trimPrefixFold(address, known); rest != address && scheme == "" {
			scheme, address = known, rest
		}
	}
	name := user().FindString(address)
	address = address[len(name):]
	lower := strings.ToLower(address)
	github := strings.HasPrefix(lower, "github.com/") || strings.HasPrefix(lower, "github.com:")
	colon := scheme == "" && (name != "" || github) // as in git@host:path
	switch {
	case scheme == "" && !colon:
		return "", "", false
	case scheme == fileScheme:
		return scheme, name + address, true
	}
	end := strings.Index(address, "/")
	if at := strings.Index(address, ":"); colon && at > 0 && (end < 0 || at < end) {
		end = at
	}
	host, path = address[:end+1], address[end+1:]
	if end < 0 {
		host, path = address, ""
	}
	switch {
	case github && (scheme == "ssh://" || name != ""):
		return name + "github.com:", path, true
	case github:
		return "https://github.com/", path, true
	}
	return scheme + name + host, path, host != ""
}

func trimPrefixFold(text, prefix string) string {
	if len(text) >= len(prefix) && strings.EqualFold(text[:len(prefix)], prefix) {
		return text[len(prefix):]
	}
	return text
}

// splitFolder divides a path behind the repository: where a mark says so, or else behind two elements.
func splitFolder(path string, whole bool) (repo, folder string, ok bool) {
	if at := strings.Index(path, "_git/"); at >= 0 {
		name, rest, _ := strings.Cut(path[at+len("_git/"):], "/")
		return path[:at] + "_git/" + name, rest, true
	}
	if before, after, found := strings.Cut(path, "//"); found {
		return before, strings.TrimPrefix(after, "/"), before != ""
	}
	if at := strings.Index(path, ".git"); at >= 0 {
		end := at + len(".git")
		return path[:end], strings.TrimPrefix(path[end:], "/"), true
	}
	if whole {
		return path, "", path != ""
	}
	elements := strings.Split(path, "/")
	if len(elements) < 2 {
		return "", "", false
	}
	repo = strings.Join(elements[:2], "/")
	return repo, strings.Join(elements[2:], "/"), repo != ""
}
