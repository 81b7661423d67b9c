#!/bin/sh
# Builds a folder of files as people have them, for TestMEM85_RealFiles: documentation packages of Debian, what LibreOffice, pandoc
# and Chromium write, texts in the encodings of countries, and what libraries of Python write. Nothing of it is in this repository.
#
#   realfiles.sh FOLDER && CTXD_REALFILES=FOLDER go test ./context/books/convert -run RealFiles -v
#
# Needs Debian with apt-get, pandoc, LibreOffice (writer, calc), chromium, poppler-utils, iconv, and python3 with python-docx,
# openpyxl, XlsxWriter, EbookLib, reportlab, fpdf2 and odfpy; what is not there leaves its files out. FOLDER/set.tsv lists each file with
# the text that it should say: a plain text, for a PDF with a form feed behind each page.
set -u
out=$(mkdir -p "$1" && cd "$1" && pwd)
py=${PYTHON:-python3}
cd "$out" || exit 1
mkdir -p deb tree files truth
: >set.tsv
have() { command -v "$1" >/dev/null 2>&1 || { echo "left out: $1 is not there" >&2; return 1; }; }
entry() { [ -s "files/$1" ] && [ -s "truth/$2" ] && printf '%s\t%s\n' "$1" "$2" >>set.tsv; }
pdf() { # NAME: a PDF of files, against pdftotext
	[ -s "files/$1" ] && pdftotext -enc UTF-8 "files/$1" "truth/$1.txt" && entry "$1" "$1.txt"
}

(cd deb && for p in debian-faq maint-guide developers-reference debian-policy debian-handbook bash-doc debian-reference-en; do
	ls "$p"_*.deb >/dev/null 2>&1 || apt-get download -q "$p" >/dev/null 2>&1 || echo "left out: $p" >&2
done)
for d in deb/*.deb; do dpkg-deb -x "$d" tree; done
doc=tree/usr/share/doc
for f in $doc/debian/FAQ/debian-faq.en $doc/debian-policy/policy $doc/debian-policy/fhs/fhs-3.0 $doc/bash/bashref $doc/bash/bash \
	$doc/maint-guide/maint-guide.en tree/usr/share/developers-reference/developers-reference tree/usr/share/debian-reference/debian-reference.en; do
	n=$(basename $f)
	if [ -f $f.pdf.gz ]; then gzip -dc $f.pdf.gz >files/$n.pdf; else cp $f.pdf files/$n.pdf; fi && pdf $n.pdf
	[ -f $f.txt.gz ] && cp $f.txt.gz files/$n.txt.gz && gzip -dc $f.txt.gz >truth/$n.txt && entry $n.txt.gz $n.txt
	[ -f $f.epub ] && cp $f.epub files/$n.epub && pandoc -f epub -t plain --wrap=none $f.epub -o truth/$n.epub.txt && entry $n.epub $n.epub.txt
done

# A chapter of the handbook in many languages: as it is, and by each program.
for l in en-US de-DE fr-FR ja-JP zh-CN zh-TW ko-KR ru-RU pl-PL cs-CZ el-GR ar-MA es-ES vi-VN tr-TR; do
	src=$(ls $doc/debian-handbook/html/$l/sect.release-lifecycle.html 2>/dev/null) || continue
	cp "$src" files/$l.html
	pandoc -f html -t plain --wrap=none "$src" -o truth/$l.txt 2>/dev/null && entry $l.html $l.txt
done
for l in en-US de-DE ja-JP ru-RU ar-MA; do
	[ -f files/$l.html ] || continue
	for to in docx epub; do
		pandoc -f html -t $to files/$l.html -o files/pandoc-$l.$to 2>/dev/null && entry pandoc-$l.$to $l.txt
	done
	if have soffice; then
		soffice --headless --convert-to pdf --outdir work files/pandoc-$l.docx >/dev/null 2>&1
		mv work/pandoc-$l.pdf files/writer-$l.pdf && pdf writer-$l.pdf
		soffice --headless --convert-to docx:"MS Word 2007 XML" --outdir work files/pandoc-$l.docx >/dev/null 2>&1
		mv work/pandoc-$l.docx files/writer-$l.docx && entry writer-$l.docx $l.txt
	fi
	if have chromium; then
		chromium --headless --no-sandbox --disable-gpu --print-to-pdf="$out/files/chromium-$l.pdf" "file://$out/files/$l.html" >/dev/null 2>&1
		pdf chromium-$l.pdf
	fi
done
coded() { # LANGUAGE ENCODING: a text in an encoding, without what that can't write
	[ -f truth/$1.txt ] && iconv -c -f UTF-8 -t "$2" truth/$1.txt >files/$1.$2.txt 2>/dev/null &&
		iconv -f "$2" -t UTF-8 files/$1.$2.txt >truth/$1.$2.txt && entry $1.$2.txt $1.$2.txt
}
coded ja-JP SHIFT_JIS; coded ja-JP EUC-JP; coded zh-CN GBK; coded zh-CN GB18030; coded zh-TW BIG5; coded ko-KR EUC-KR; coded ru-RU KOI8-R
coded ru-RU CP1251; coded ru-RU CP866; coded de-DE CP1252; coded de-DE MACINTOSH; coded pl-PL CP1250; coded cs-CZ ISO-8859-2; coded el-GR CP1253
coded ar-MA CP1256; coded fr-FR CP1252; coded en-US UTF-16; coded tr-TR CP1254; coded vi-VN UTF-16LE; coded ja-JP ISO-2022-JP
rm -rf work

"$py" - <<'PY'
import csv, importlib, os, re
text = open('truth/en-US.txt').read() if os.path.exists('truth/en-US.txt') else ''
pars = [re.sub(r'\s+', ' ', p).strip() for p in text.split('\n\n') if p.strip()]
def put(name, words):
    open('truth/' + name + '.txt', 'w').write(words)
    open('set.tsv', 'a').write(name + '\t' + name + '.txt\n')
def lib(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        print('left out: ' + name)
rows = [['Station', 'Day', 'Rain', 'Rain', 'Note']] + [[f'Station {i%7}', f'2026-03-{i%28+1:02d}', i*3%17, i*5%11, f'note number {i}'] for i in range(400)]
flat = '\n'.join(' '.join(map(str, r)) for r in rows)
if (docx := lib('docx')):
    d = docx.Document(); d.core_properties.title = ''
    for i, p in enumerate(pars):
        (d.add_heading(p, 1) if len(p) < 60 and i % 7 == 0 else d.add_paragraph(p))
    t = d.add_table(rows=0, cols=5)
    for r in rows[:30]:
        for c, v in zip(t.add_row().cells, r): c.text = str(v)
    d.save('files/python.docx'); put('python.docx', '\n'.join(pars) + '\n' + '\n'.join(' '.join(map(str, r)) for r in rows[:30]))
if (openpyxl := lib('openpyxl')):
    w = openpyxl.Workbook(); s = w.active; s.title = 'Rain'
    for r in rows: s.append(r)
    w.save('files/openpyxl.xlsx'); put('openpyxl.xlsx', 'Rain\n' + flat)
if (xlsxwriter := lib('xlsxwriter')):
    w = xlsxwriter.Workbook('files/xlsxwriter.xlsx', {'constant_memory': True}); s = w.add_worksheet('Rain')
    for i, r in enumerate(rows): s.write_row(i, 0, r)
    w.close(); put('xlsxwriter.xlsx', 'Rain\n' + flat)
for sep, name in ((',', 'comma.csv'), (';', 'semicolon.csv'), ('\t', 'tab.tsv')):
    with open('files/' + name, 'w', newline='') as f: csv.writer(f, delimiter=sep).writerows(rows)
    put(name, flat)
if lib('ebooklib'):
    from ebooklib import epub
    b = epub.EpubBook(); b.set_title('Life of a release'); b.set_language('en'); chapters = []
    for i in range(0, len(pars), 10):
        c = epub.EpubHtml(title=f'Chapter {i//10+1}', file_name=f'c{i}.xhtml')
        c.content = '<h1>Part</h1>' + ''.join('<p>' + p.replace('&', '&amp;').replace('<', '&lt;') + '</p>' for p in pars[i:i+10])
        b.add_item(c); chapters.append(c)
    b.toc = chapters; b.spine = ['nav'] + chapters; b.add_item(epub.EpubNcx()); b.add_item(epub.EpubNav())
    epub.write_epub('files/ebooklib.epub', b); put('ebooklib.epub', '\n'.join(pars) + '\nPart' * len(chapters))
if lib('reportlab'):
    from reportlab.platypus import BaseDocTemplate, Frame, PageTemplate, Paragraph, SimpleDocTemplate
    from reportlab.lib.styles import getSampleStyleSheet
    st = getSampleStyleSheet(); esc = lambda p: p.replace('&', '&amp;').replace('<', '&lt;')
    SimpleDocTemplate('files/reportlab.pdf').build([Paragraph(esc(p), st['Normal']) for p in pars])
    two = BaseDocTemplate('files/reportlab-columns.pdf')
    two.addPageTemplates([PageTemplate(frames=[Frame(40, 40, 250, 760), Frame(310, 40, 250, 760)])])
    two.build([Paragraph(esc(p) + f'<super>{i % 90 + 1}</super>' if i % 5 == 0 else esc(p), st['Normal']) for i, p in enumerate(pars)])
if (fpdf := lib('fpdf')):
    f = fpdf.FPDF(); f.add_page(); f.set_font('Helvetica', size=11)
    for p in pars: f.multi_cell(0, 6, p.encode('latin-1', 'replace').decode('latin-1'), new_x='LMARGIN', new_y='NEXT'); f.ln(3)
    f.output('files/fpdf.pdf')
PY
for n in reportlab.pdf reportlab-columns.pdf fpdf.pdf; do pdf $n; done
if have soffice; then
	soffice --headless --convert-to xlsx --outdir files files/comma.csv >/dev/null 2>&1
	mv files/comma.xlsx files/calc.xlsx && cp truth/comma.csv.txt truth/calc.txt && entry calc.xlsx calc.txt
fi
wc -l <set.tsv
