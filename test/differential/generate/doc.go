// Package generate holds the differential tests of the generators: controller-gen, Kubernetes' code generators and ours
// must make the same bytes of real projects, of the examples and of thousands of packages that are made from a seed.
package generate
