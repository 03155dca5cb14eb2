// Package oci makes the container image of elasticron: a folder in the OCI image layout, from the sources, without a
// base image and without a container engine. The same sources and the same version of Go give the same digest.
//
// The image holds one static program, the certificates of public authorities, and an unprivileged user; time zones are
// in the program. It has no shell, so jobs of the type SCRIPT need another image, see image/Containerfile.
package oci
