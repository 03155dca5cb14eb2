package main

import (
	"regexp"
	"strings"

	"golang.org/x/net/html"
)

// loads are the attributes by which an element has the browser load something.
var loads = map[string][]string{
	"script": {"src"}, "img": {"src", "srcset"}, "iframe": {"src"}, "frame": {"src"}, "embed": {"src"}, "object": {"data"},
	"audio": {"src"}, "video": {"src", "poster"}, "source": {"src", "srcset"}, "track": {"src"}, "input": {"src"},
	"image": {"href", "xlink:href"}, "use": {"href", "xlink:href"}, "link": {"href"}, "form": {"action"}, "base": {"href"},
}

// leads are the kinds of links in a head that a browser does not load.
var leads = map[string]bool{"canonical": true, "next": true, "prev": true, "license": true, "author": true, "alternate": true}

// inPage tells what a page loads from elsewhere, and whether it lacks the policy that forbids the browser to.
func inPage(page string) (found []string) {
	reader, policy := html.NewTokenizer(strings.NewReader(page)), false
	for {
		switch kind := reader.Next(); kind {
		case html.ErrorToken: // the end
			if !policy {
				found = append(found, "the page has no Content-Security-Policy with default-src 'self'")
			}
			return found
		case html.StartTagToken, html.SelfClosingTagToken:
			token := reader.Token()
			attributes := make(map[string]string)
			for _, a := range token.Attr {
				attributes[a.Key] = a.Val
			}
			if token.Data == "meta" && strings.EqualFold(attributes["http-equiv"], "Content-Security-Policy") {
				policy = policy || strings.HasPrefix(attributes["content"], "default-src 'self';")
			}
			found = append(found, inElement(token.Data, attributes)...)
			if kind == html.StartTagToken && token.Data == "style" {
				reader.Next()
				found = append(found, inStyle(string(reader.Text()))...)
			}
		}
	}
}

func inElement(name string, attributes map[string]string) (found []string) {
	found = inStyle(attributes["style"])
	if name == "link" && leads[strings.ToLower(attributes["rel"])] {
		return found
	}
	for _, attribute := range loads[name] {
		for address := range strings.SplitSeq(attributes[attribute], ",") { // srcset has several
			if foreign(address) {
				found = append(found, "<"+name+" "+attribute+"> loads "+strings.TrimSpace(address))
			}
		}
	}
	return found
}

// address is what a style loads: url(…), or the text behind @import.
var address = regexp.MustCompile(`(?i)(?:url\(\s*["']?|@import\s+["'])([^"')\s;]+)`)

// inStyle tells what a style sheet loads from elsewhere.
func inStyle(style string) (found []string) {
	for _, m := range address.FindAllStringSubmatch(style, -1) {
		if foreign(m[1]) {
			found = append(found, "a style loads "+m[1])
		}
	}
	return found
}
