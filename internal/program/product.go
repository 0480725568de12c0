package program

import "slices"

// product is what one build makes: programs of one module that lie side by side.
type product struct {
	// module is the path of their module, and folder its place below the root of the sources.
	module, folder string
	// what it is called in messages.
	what string
	// programs are in the order in which they are named to the go command: the dependencies of the
	// first one are compiled first, so the large one is the last, as the progress has it. The last one being there
	// tells that all are.
	programs []string
	// others are programs of another product of the same sources, in the same slot: each is compiled when it is needed.
	others []string
	// folders hold all of its packages, relative to the module; none means any but those in the folders apart.
	folders, apart []string
	// pin is the version of k8s.io/code-generator to build with in place of the module's own; "" is the module's own.
	pin string
	// without says how a command does without the product, after a semicolon; "" if it cannot.
	without string
	// variable of the environment by which a user names the program, instead of having it built; "" is none.
	variable string
}

// clusterProduct is slipway-cluster.
func clusterProduct() *product {
	return &product{module: clusterModule, folder: "cluster", what: "the cluster program", programs: []string{name}, others: []string{kubectlName}, variable: "SLIPWAY_CLUSTER",
		apart: append(checkFolders(), nodeFolders()...)}
}

// kubectlProduct is the kubectl beside slipway-cluster. A cluster starts without it.
func kubectlProduct() *product {
	p := clusterProduct()
	p.what, p.programs, p.others, p.variable = "kubectl", p.others, p.programs, ""
	return p
}

// nodeFolders are those of real nodes that the cluster program has nothing to do with. A test of package realnode sees
// to that.
func nodeFolders() []string {
	return []string{"cmd/" + nodeName, "cmd/" + containerName, "realnode/capability", "realnode/cri", "realnode/imagestore", "realnode/isolated",
		"realnode/keeper", "realnode/kubelet", "realnode/plain", "realnode/podnet", "realnode/process", "realnode/seccomp"}
}

// nodeProduct is a real node: the kubelet, and what containers begin with. Nobody has to compile a kubelet to have
// simulated nodes.
func nodeProduct() *product {
	return &product{module: clusterModule, folder: "cluster", what: "the program of real nodes", programs: []string{containerName, nodeName},
		variable: "SLIPWAY_NODE", folders: []string{"cmd/" + nodeName, "cmd/" + containerName, "realnode", "registry/peer", "registry/places", "version"}}
}

// checkFolders are those of the checker. Tests of the package crdcheck see to it that nothing else there has to do with
// them.
func checkFolders() []string { return []string{"cmd/" + checkName, "crdcheck"} }

// checkProduct is the checker of CRDs. It is small and independent of the cluster program, so nobody has to compile
// an API server to have his CRDs checked.
func checkProduct() *product {
	return &product{module: clusterModule, folder: "cluster", what: "the checker of CRDs", programs: []string{checkName}, variable: "SLIPWAY_CHECK",
		folders: checkFolders(), without: "; SLIPWAY_CHECK=off skips the check"}
}

// codegenProduct is the program with the generators of k8s.io/code-generator, of slipway's own module.
func codegenProduct() *product {
	return &product{module: Module, folder: ".", what: "the generators of clients", programs: []string{codegenName}, variable: "SLIPWAY_CODEGEN",
		folders: []string{"cmd/" + codegenName, "internal/codegen/kubernetes", "internal/codegen/wire"}}
}

// codegenProductOf is the same with the generators of another version.
func codegenProductOf(version string) *product {
	p := codegenProduct()
	p.what, p.pin = p.what+" for client-go "+version, version
	return p
}

// all are the programs of the slot.
func (p *product) all() []string {
	return slices.Sorted(slices.Values(slices.Concat(p.programs, p.others)))
}

// instead is what a user can do who cannot have the product built.
func (p *product) instead() string {
	if p.variable == "" {
		return "put " + p.what + " on PATH"
	}
	return "set " + p.variable + " to a " + p.last() + " program"
}

// last is the program that the others accompany.
func (p *product) last() string { return p.programs[len(p.programs)-1] }

// mains are the packages of programs, in the module's folder.
func mains(programs []string) []string {
	var mains []string
	for _, program := range programs {
		mains = append(mains, "./cmd/"+program)
	}
	return mains
}

// packages are their import paths.
func (p *product) packages() []string {
	var paths []string
	for _, program := range p.programs {
		paths = append(paths, p.module+"/cmd/"+program)
	}
	return paths
}

// lastPackage returns the path of the last program's package.
func (p *product) lastPackage() string { return p.module + "/cmd/" + p.last() }
