package cri

import "regexp"

// specs are those whose names contain a text.
type specs struct{ specs, why string }

// selinux are there on some machines alone.
const selinux = "SELinux"

// leftOut are what real nodes do not do, or what critest cannot be given here.
var leftOut = []specs{
	{"runtime should support HostPID", "refused, as docs/guides/real-nodes.md says"},
	{"runtime should support HostIpc is true", "refused likewise"},
	{"runtime should support PodPID", "refused likewise: containers that share their processes"},
	{"mount with 'rshared'", "refused likewise: mounts that a container makes for others"},
	{"mount with 'rslave'", "a node mounts nothing in a volume that a container has already"},
	{"should support safe sysctls", "refused: those that are not the network's"},
	{"should support unsafe sysctls", "refused likewise"},
	{"should support seccomp localhost profile", "refused: profiles from files"},
	{"runtime should support an seccomp profile that blocks setting hostname", "refused likewise"},
	{"with host port and container port", "ports of the host are not opened"},
	{"runtime should support Privileged is true", "makes a bridge: the network is the node's, whose user namespace is around the container's"},
	{"runtime should support adding capability", "makes a bridge likewise"},
	{"recursive readonly mount", "critest sees that the runtime does not have them"},
	{"UserNamespaces", "critest sees that none can be asked for: each container has one"},
	{"AppArmor", "critest sees that the machine has none; profiles are refused"},
	{selinux, "critest sees likewise; labels are passed over"},
	{"runtime should support MaskedPaths", "hides ls, which the shell of Debian's busybox has within; TestMasked of the runtime's package looks at paths"},
	{"public image with digest", "nobody else can have an image with that digest"},
}

// skipped are the regular expressions for what is left out.
func skipped() []string {
	all := make([]string, 0, len(leftOut))
	for _, l := range leftOut {
		all = append(all, regexp.QuoteMeta(l.specs))
	}
	return all
}
