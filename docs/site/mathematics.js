// Formulas are what pymdownx.arithmatex has marked, and nothing else.
window.MathJax = {
  tex: {inlineMath: [["\\(", "\\)"]], displayMath: [["\\[", "\\]"]]},
  options: {ignoreHtmlClass: ".*", processHtmlClass: "arithmatex", enableMenu: false}
};
