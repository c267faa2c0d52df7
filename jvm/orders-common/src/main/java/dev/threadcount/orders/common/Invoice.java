package dev.threadcount.orders.common;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import org.apache.pdfbox.pdmodel.PDDocument;
import org.apache.pdfbox.pdmodel.PDPage;
import org.apache.pdfbox.pdmodel.PDPageContentStream;
import org.apache.pdfbox.pdmodel.font.PDType1Font;
import org.apache.pdfbox.pdmodel.font.Standard14Fonts;

/** An order as a PDF with a page for each copy, which costs CPU without waiting. */
public final class Invoice {
    private Invoice() {}

    /** Makes the PDF. */
    public static byte[] pdf(Order order, int copies) throws IOException {
        try (var document = new PDDocument()) {
            var font = new PDType1Font(Standard14Fonts.FontName.HELVETICA);
            for (int copy = 0; copy < copies; copy++) {
                addPage(document, font, order);
            }
            var bytes = new ByteArrayOutputStream();
            document.save(bytes);
            return bytes.toByteArray();
        }
    }

    private static void addPage(PDDocument document, PDType1Font font, Order order) throws IOException {
        var page = new PDPage();
        document.addPage(page);
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
    }
}
