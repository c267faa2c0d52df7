package dev.threadcount.orders;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import org.apache.pdfbox.pdmodel.PDDocument;
import org.apache.pdfbox.pdmodel.PDPage;
import org.apache.pdfbox.pdmodel.PDPageContentStream;
import org.apache.pdfbox.pdmodel.font.PDType1Font;
import org.apache.pdfbox.pdmodel.font.Standard14Fonts;

/** An order as a PDF of one page: CPU, and no waiting. */
final class Invoice {
    private Invoice() {}

    static byte[] pdf(Order order) throws IOException {
        try (var document = new PDDocument()) {
            var page = new PDPage();
            document.addPage(page);
            var font = new PDType1Font(Standard14Fonts.FontName.HELVETICA);
            try (var text = new PDPageContentStream(document, page)) {
                text.beginText();
                text.setFont(font, 12);
                text.setLeading(16);
                text.newLineAtOffset(50, 720);
                text.showText("Invoice for order " + order.id());
                for (Order.Line line : order.lines()) {
                    text.newLine();
                    text.showText("%d x %s at %d cents".formatted(line.quantity(), line.product(), line.priceCents()));
                }
                text.newLine();
                text.showText("Total: %d cents".formatted(order.totalCents()));
                text.endText();
            }
            var bytes = new ByteArrayOutputStream();
            document.save(bytes);
            return bytes.toByteArray();
        }
    }
}
