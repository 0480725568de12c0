package registry

import "strings"

// Kept is the repository of this registry under which a repository of another one is kept:
// images that were loaded into the cluster, to be found before that registry is asked. Host is the other
// registry's name as clients know it, index.docker.io for what has none, with a port if it
// has one; repository is the canonical one, library/controller for controller.
//
//	Kept("index.docker.io", "library/controller")  // index.docker.io/library/controller
//	Kept("registry.example.com:8443", "team/op")   // registry.example.com_8443/team/op
//
// A repository's name cannot have a colon, and a host's cannot have an underscore: no two are kept under one name.
// Letters of hosts are small: registries know no others in their names.
func Kept(host, repository string) string {
	host = strings.NewReplacer(":", "_", "[", "", "]", "").Replace(strings.ToLower(host))
	return host + "/" + repository
}
