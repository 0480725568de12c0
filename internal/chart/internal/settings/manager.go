package settings

import (
	"slices"

	"github.com/slipway-dev/slipway/internal/chart/internal/model"
	"github.com/slipway-dev/slipway/internal/chart/internal/tree"
	"github.com/slipway-dev/slipway/internal/image/reference"
)

// manager returns the manager's Deployment: the one with the label control-plane: controller-manager, or else the only
// one; nil if there are others.
func (t *extractor) manager() *model.Document {
	var deployments []*model.Document
	for i := range t.model.Documents {
		d := &t.model.Documents[i]
		if !d.Of("apps", "Deployment") || container(d) == nil {
			continue
		}
		if pods := d.Object.At("spec", "template", "metadata", "labels"); pods.Text("control-plane") == "controller-manager" {
			return d
		}
		deployments = append(deployments, d)
	}
	if len(deployments) != 1 {
		return nil
	}
	return deployments[0]
}

// container returns the manager's container: the one called manager, or else the first.
func container(d *model.Document) *tree.Map {
	list := d.Object.At("spec", "template", "spec").List("containers")
	if list == nil {
		return nil
	}
	var first *tree.Map
	for _, item := range list.Items {
		m, ok := item.Value.(*tree.Map)
		if !ok {
			continue
		}
		if m.Text("name") == "manager" {
			return m
		}
		if first == nil {
			first = m
		}
	}
	return first
}

func (t *extractor) takeManager() {
	d := t.manager()
	if d == nil {
		return
	}
	t.values.Describe("manager", "The manager: the operator's Deployment.")
	t.values.Set("manager.enabled", "Whether the chart installs it.", true)
	d.When = tree.All(tree.If(value("manager.enabled")), d.When)
	c, pod := container(d), d.Object.At("spec", "template", "spec")
	t.takeReplicas(d)
	policy := c.Text("imagePullPolicy")
	image := t.takeImage(c)
	for _, other := range t.model.Documents {
		t.followIn(other.Object, image, policy, c.Find("imagePullPolicy"))
	}
	t.takePort("manager.healthProbe.port", "Port of the probes.", probeArgument(), "")
	t.leading(c, "args", "manager.args", "Arguments of the manager. Features add theirs.")
	t.takeVariables(c, image)
	t.whole(c, "resources", "manager.resources", "Resource requests and limits of the manager.", map[string]any{})
	t.whole(c, "securityContext", "manager.securityContext", "Security context of the container.", map[string]any{})
	t.whole(pod, "securityContext", "manager.podSecurityContext", "Security context of the pod.", map[string]any{})
	t.whole(pod, "imagePullSecrets", "manager.imagePullSecrets", "Secrets to pull the image with, such as {name: my-registry}.", []any{})
	t.whole(pod, "nodeSelector", "manager.nodeSelector", "Nodes that the manager can run on.", map[string]any{})
	t.whole(pod, "tolerations", "manager.tolerations", "", []any{})
	t.whole(pod, "affinity", "manager.affinity", "", map[string]any{})
	t.whole(pod, "topologySpreadConstraints", "manager.topologySpreadConstraints", "", []any{})
	t.whole(pod, "priorityClassName", "manager.priorityClassName", "", "")
	t.number(pod, "terminationGracePeriodSeconds", "manager.terminationGracePeriodSeconds", "")
	t.whole(d.Object.At("spec"), "strategy", "manager.strategy", "How pods are replaced.", map[string]any{})
	t.trailing(pod, "volumes", "manager.extraVolumes", "More volumes of the pods, and where the container has them.")
	t.trailing(c, "volumeMounts", "manager.extraVolumeMounts", "")
	metadata := d.Object.Ensure("metadata")
	t.more(metadata.Ensure("labels"), "manager.labels", "More labels and annotations of the Deployment.")
	t.more(metadata.Ensure("annotations"), "manager.annotations", "")
	metadata = d.Object.At("spec", "template").Ensure("metadata")
	t.more(metadata.Ensure("labels"), "manager.pod.labels", "")
	t.more(metadata.Ensure("annotations"), "manager.pod.annotations", "")
	t.values.Describe("manager.pod", "More labels and annotations of the pods.")
}

// takeReplicas makes the number of managers a setting. If it depends on features, the setting is empty by default and
// has priority over them.
func (t *extractor) takeReplicas(d *model.Document) {
	spec := d.Object.At("spec")
	f := spec.Find("replicas")
	if f == nil {
		return // something else decides, such as an autoscaler
	}
	const path, comment = "manager.replicas", "Number of managers; one is active at a time."
	if v, ok := plain(f.Value); ok && f.When.Always() {
		t.values.Set(path, comment, v)
		f.Value = tree.Action("{{ " + value(path) + " }}")
		return
	}
	t.number(spec, "replicas", path, comment+" By default it follows from the features.")
}

// takeImage splits the image into settings. A digest has priority over the tag. It returns the image, or "" if that is
// no setting.
func (t *extractor) takeImage(c *tree.Map) string {
	f := c.Find("image")
	if f == nil || !f.When.Always() {
		return ""
	}
	v, _ := plain(f.Value)
	image, ok := v.(string)
	if !ok {
		return ""
	}
	repository, tag, digest := splitImage(image)
	t.values.Describe("manager.image", "")
	t.values.Set("manager.image.repository", "", repository)
	t.values.Set("manager.image.tag", "Defaults to the chart's appVersion.", tag)
	t.values.Set("manager.image.digest", "Such as sha256:…; replaces the tag.", digest)
	f.Value = t.image()
	t.takePullPolicy(c)
	return image
}

// image is the action that renders the manager's image.
func (t *extractor) image() tree.Action {
	return tree.Action("{{ " + t.include("image") + " | quote }}")
}

func (t *extractor) takePullPolicy(c *tree.Map) {
	policy := ""
	if f := c.Find("imagePullPolicy"); f != nil {
		v, ok := plain(f.Value)
		if !ok || !f.When.Always() {
			return
		}
		policy, _ = v.(string)
	}
	t.values.Set("manager.image.pullPolicy", "Always, IfNotPresent or Never; by default it follows from the tag.", policy)
	c.Set(tree.Field{Key: "imagePullPolicy", When: tree.If(value("manager.image.pullPolicy")), Value: tree.Action("{{ " + value("manager.image.pullPolicy") + " }}")})
}

// takeVariables makes the variables settings. Variables with the manager's image, for pods that the operator creates,
// follow the setting of the image. They move to the beginning: the setting covers only leading items that are literal.
// They refer to no other variable, so their order does not matter.
func (t *extractor) takeVariables(c *tree.Map, image string) {
	var follow []tree.Item
	if list := c.List("env"); list != nil && image != "" {
		list.Items = slices.DeleteFunc(list.Items, func(item tree.Item) bool {
			follows := t.followImage(item, image)
			if follows {
				follow = append(follow, item)
			}
			return follows
		})
	}
	t.leading(c, "env", "manager.env", "Environment variables of the container. Features add theirs.")
	if len(follow) > 0 {
		list := c.List("env")
		list.Items = append(follow, list.Items...)
	}
}

// followIn makes all other containers with the manager's image follow its setting, in any object: those of other
// workloads, and init containers. Their variables follow too, and so does their pull policy if it is the manager's.
func (t *extractor) followIn(n tree.Node, image, policy string, pull *tree.Field) {
	switch n := n.(type) {
	case *tree.Map:
		for _, list := range []string{"initContainers", "containers"} {
			for _, c := range n.List(list).Maps() {
				t.followContainer(c, image, policy, pull)
			}
		}
		for _, f := range n.Fields {
			t.followIn(f.Value, image, policy, pull)
		}
	case *tree.List:
		for _, item := range n.Items {
			t.followIn(item.Value, image, policy, pull)
		}
	}
}

// followContainer does so for one container.
func (t *extractor) followContainer(c *tree.Map, image, policy string, pull *tree.Field) {
	if image == "" || c.Text("image") != image || !c.Find("image").When.Always() {
		return
	}
	c.Set(tree.Field{Key: "image", Value: t.image()})
	if f := c.Find("imagePullPolicy"); c.Text("imagePullPolicy") == policy && (f == nil || f.When.Always()) {
		c.Set(*pull)
	}
	if list := c.List("env"); list != nil {
		for _, item := range list.Items {
			t.followImage(item, image)
		}
	}
}

// followImage makes a variable follow the image's setting if it has the image as its value, and reports whether it
// does.
func (t *extractor) followImage(item tree.Item, image string) bool {
	variable, ok := item.Value.(*tree.Map)
	if !ok || variable.Text("value") != image || !variable.Find("value").When.Always() {
		return false
	}
	variable.Set(tree.Field{Key: "value", Value: t.image()})
	return true
}

// splitImage splits an image's name. Without tag and digest, the tag is latest.
func splitImage(image string) (repository, tag, digest string) {
	repository, tag, digest = reference.Split(image)
	if tag == "" && digest == "" {
		tag = "latest"
	}
	return repository, tag, digest
}
